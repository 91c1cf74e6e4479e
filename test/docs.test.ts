import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FEATURES } from '../src/access/features.ts'
import { planLimits } from '../src/access/plan-limits.ts'
import { settingDefinitions } from '../src/access/setting-definitions.ts'
import { configTable } from '../src/base/config.ts'
import { commands } from '../src/cli/commands.ts'
import { hookEvents } from '../src/notifications/hooks/hook-events.ts'
import { groupDetailSettings, groupSettings } from '../src/projects/groups/settings.ts'
import { projectSettings } from '../src/projects/projects/settings.ts'

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
}

test('the README is one page', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(200)
})

test('the configuration page holds the table of settings as the program knows them', () => {
  expect(read('docs/configuration.md')).toContain(configTable())
})

test('the operations page names every command', () => {
  const page = read('docs/operations.md')
  for (const { name } of commands) expect(page).toContain(`\`gitstead ${name}`)
})

/** Files that keep, check or show settings; what no other file names has no effect. */
const keepsSettings =
  /(setting-definitions|setting-fields|settings|plan-limits|features|entity|params|fields|present[\w-]*)\.ts$|store\/(migrations|schema)\//

test('settings without an effect are listed, and nothing else', () => {
  const root = new URL('../src/', import.meta.url).pathname
  const text = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !keepsSettings.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n')
  // A feature has an effect where a rule or a query asks for it by its name.
  const levels = FEATURES.filter((feature) => text.includes(`'${feature}'`)).map(
    (feature) => `${feature}_access_level`,
  )
  const words = new Set([...(text.match(/\w+/g) ?? []), ...levels])
  const page = new Set(
    [...read('docs/settings-without-effect.md').matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  const tables = [
    settingDefinitions,
    projectSettings,
    groupSettings,
    groupDetailSettings,
    planLimits,
  ]
  // An event of hooks happens where something fires it by its name.
  const silent = Object.entries(hookEvents).flatMap(([event, { flag }]) =>
    flag !== null && !text.includes(`'${event}'`) ? [flag] : [],
  )
  const names = tables.flatMap(Object.keys)
  const known: ReadonlySet<string | undefined> = new Set([...names, ...silent])
  expect(silent.filter((flag) => !page.has(flag))).toEqual([])
  expect(names.filter((name) => !words.has(name) && !page.has(name))).toEqual([])
  expect([...page].filter((name) => !known.has(name))).toEqual([])
})
