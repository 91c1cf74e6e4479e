import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../../src/web/pages.ts'

const root = new URL('../../', import.meta.url).pathname
const web = join(root, 'src/web')

const views = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.tsx'))
  .map((path) => ({ path, text: readFileSync(join(web, path), 'utf8') }))

test('only the parts that show what was rendered or written as HTML put HTML into a page as it is', () => {
  const found = views.filter(({ text }) => text.includes('dangerouslySetInnerHTML'))
  expect(found.map(({ path }) => path).sort()).toEqual([
    'parts/highlighted.tsx',
    'parts/markdown.tsx',
    'parts/rows.tsx',
  ])
})

test('links and forms of views go through the parts that know where the server lies and what proves a form', () => {
  const bare = views
    .filter(({ path }) => !/^parts\/(link|form)\.tsx$/.test(path))
    // A link within the page has no address of the server in it.
    .filter(({ text }) => /<form[\s>]|<a\s(?![^>]*href=(?:"#|\{`#))/.test(text))
  expect(bare.map(({ path }) => path)).toEqual([])
})

test('each page has an address of its own, and says what it is', () => {
  const addresses = pages.map(({ address }) => address)
  expect(new Set(addresses).size).toBe(addresses.length)
  expect(pages.filter(({ summary }) => summary === '')).toEqual([])
})

test('what every page loads is small', () => {
  const folder = join(root, 'dist/web/assets')
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const size = (name: string) => statSync(join(folder, `${manifest[name]}.br`)).size
  expect(size('main.js')).toBeLessThan(60_000)
  expect(size('style.css')).toBeLessThan(30_000)
})
