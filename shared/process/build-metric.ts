import { Gauge, type Registry } from 'prom-client'
import servicePackage from '../../package.json' with { type: 'json' }

/** Adds a metric whose labels are the version of the service and the version of Node. */
export function observeBuild(registry: Registry): void {
  const build = new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; the labels say which version of the service runs on which Node',
    labelNames: ['version', 'node'],
    registers: [registry],
  })
  build.set({ version: servicePackage.version, node: process.version }, 1)
}
