import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configTable } from '../src/base/config.ts'
import { commands } from '../src/cli/commands.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the README holds the table of settings as the program knows them', () => {
  expect(readme).toContain(configTable())
})

test('the README names every command', () => {
  for (const { name } of commands) expect(readme).toContain(`\`gitstead ${name}`)
})
