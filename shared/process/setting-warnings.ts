import leven from 'leven'
import { type Config, settings } from '../config/config.ts'
import type { Logger } from './log.ts'

/** Logs one line for each setting that will not do what its author expects, as `settingWarnings` finds them. */
export function warnAboutSettings({ config, log }: { config: Config; log: Logger }): void {
  for (const warning of settingWarnings({ config, env: process.env })) log.warn(warning)
}

/**
 * What an operator probably did not mean: variables that look like settings but are none, each with the nearest setting,
 * a key of the provider without a model to use it for, and models without a key. Values are never repeated.
 */
export function settingWarnings({ config, env }: { config: Config; env: NodeJS.ProcessEnv }): string[] {
  return [...unknownSettings(Object.keys(env)), ...unusedModels(config)]
}

function unusedModels({ OPENAI_API_KEY, SUMMARY_MODEL, TRANSLATION_MODEL }: Config): string[] {
  const models = Object.entries({ SUMMARY_MODEL, TRANSLATION_MODEL }).filter(([, model]) => model !== '')
  if (OPENAI_API_KEY === '') return models.map(([name]) => `${name} has no effect without OPENAI_API_KEY`)
  if (models.length > 0) return []
  return ['OPENAI_API_KEY has no effect without SUMMARY_MODEL or TRANSLATION_MODEL']
}

function unknownSettings(variables: readonly string[]): string[] {
  return variables
    .filter((name) => !(name in settings) && !othersVariables.test(name))
    .map((name) => ({ name, nearest: nearestSetting(name) }))
    .filter(({ name, nearest }) => isOurs(name) || isMisspelt(name, nearest))
    .map(({ name, nearest }) => `${name} is no setting; did you mean ${nearest}?`)
    .sort()
}

function nearestSetting(name: string): string {
  const distances = Object.keys(settings).map((setting) => ({ setting, distance: leven(name, setting) }))
  return distances.reduce((best, next) => (next.distance < best.distance ? next : best)).setting
}

const firstWords = new Set(Object.keys(settings).flatMap((name) => /^[A-Z0-9]+(?=_)/.exec(name) ?? []))
// Words with which variables of many other programs begin, such as SESSION_MANAGER.
const commonWords = new Set(['DATA', 'JOB', 'LOG', 'PUBLIC', 'SESSION', 'TOKEN', 'TRUST'])

function isOurs(name: string): boolean {
  const [word = ''] = name.split('_', 1)
  return name.includes('_') && firstWords.has(word) && !commonWords.has(word)
}

function isMisspelt(name: string, nearest: string): boolean {
  return name.length >= 8 && leven(name, nearest) <= 2
}

// Kubernetes and Docker name services that run beside this one; the rest is read by the client of the provider.
const othersVariables = /_(SERVICE_(HOST|PORT)(_.+)?|PORT(_\d+_(TCP|UDP)(_.+)?)?)$|^OPENAI_(ORG_ID|PROJECT_ID)$/
