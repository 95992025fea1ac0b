import leven from 'leven'
import { type Config, settings } from '../config/config.ts'
import type { Logger } from './log.ts'

const firstWords = new Set(Object.keys(settings).flatMap((name) => /^[A-Z0-9]+(?=_)/.exec(name) ?? []))
// Variables of many other programs begin with these words, such as SESSION_MANAGER. So these words are no sign of a
// misspelt setting.
const commonWords = new Set(['DATA', 'JOB', 'LOG', 'PUBLIC', 'SESSION', 'TOKEN', 'TRUST'])
// Kubernetes and Docker set variables for neighbouring services. The client of the model provider reads the other
// variables of this pattern.
const foreignVariables = /_(SERVICE_(HOST|PORT)(_.+)?|PORT(_\d+_(TCP|UDP)(_.+)?)?)$|^OPENAI_(ORG_ID|PROJECT_ID)$/

/** Logs the warnings of `settingWarnings` for the environment of this process, a line each. */
export function warnAboutSettings({ config, log }: { config: Config; log: Logger }): void {
  for (const warning of settingWarnings({ config, env: process.env })) log.warn(warning)
}

/**
 * Warnings about probable mistakes of the operator. A variable may look like a setting but be none; the warning names
 * the nearest setting. A model may be set without a key, or a key without a model. A warning never repeats a value.
 * @internal
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
    .filter((name) => !(name in settings) && !foreignVariables.test(name))
    .map((name) => ({ name, nearest: nearestSetting(name) }))
    .filter(({ name, nearest }) => isOurs(name) || isMisspelt(name, nearest))
    .map(({ name, nearest }) => `${name} is no setting; did you mean ${nearest}?`)
    .sort()
}

function nearestSetting(name: string): string {
  const distances = Object.keys(settings).map((setting) => ({ setting, distance: leven(name, setting) }))
  return distances.reduce((best, next) => (next.distance < best.distance ? next : best)).setting
}

function isOurs(name: string): boolean {
  const [word = ''] = name.split('_', 1)
  return name.includes('_') && firstWords.has(word) && !commonWords.has(word)
}

function isMisspelt(name: string, nearest: string): boolean {
  return name.length >= 8 && leven(name, nearest) <= 2
}
