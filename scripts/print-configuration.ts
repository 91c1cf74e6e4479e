import { readFileSync, writeFileSync } from 'node:fs'
import { configTable } from '../src/base/config.ts'

/** Writes the table of settings into docs/configuration.md: `npm run docs`. */
const path = new URL('../docs/configuration.md', import.meta.url)
const page = readFileSync(path, 'utf8')
const table = /^\| Environment \|.*\n(?:\|.*\n?)+/m
if (!table.test(page)) throw new Error('docs/configuration.md holds no table of settings')
writeFileSync(
  path,
  page.replace(table, () => `${configTable()}\n`),
)
