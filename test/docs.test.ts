import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configTable } from '../src/base/config.ts'
import { commands } from '../src/cli/commands.ts'

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
