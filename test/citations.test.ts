import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = new URL('../', import.meta.url).pathname

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
    if (/\.(ts|mjs)$/.test(entry)) yield join(folder, entry)
}

const pages = new Map<string, string>()

function pageOf(name: string): string {
  const known = pages.get(name)
  if (known !== undefined) return known
  const text = readFileSync(join(root, `${name}.md`), 'utf8')
  pages.set(name, text)
  return text
}

test('every section that a comment cites is in the docs', () => {
  const missing: string[] = []
  for (const folder of ['src', 'test', 'scripts'])
    for (const path of sources(folder)) {
      const text = readFileSync(join(root, path), 'utf8')
      for (const [cited, page = '', section = ''] of text.matchAll(
        /(docs\/contract\/[A-D](?:-resolved)?) §(\d+(?:\.\d+)*)/g,
      )) {
        const heading = new RegExp(`^#+ ${section.replaceAll('.', '\\.')}[. ]`, 'm')
        if (!heading.test(pageOf(page))) missing.push(`${path}: ${cited}`)
      }
    }
  expect(missing).toEqual([])
})
