import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChromium } from '../../support/chromium.ts'
import { makePerson, Windows } from '../../support/day.ts'
import { openBench } from '../../support/review.ts'
import { useWorld } from '../../support/world.ts'

const FILES = 230

const world = useWorld()
let browser: Browser
let windows: Windows
let page: Page
let address: string

beforeAll(async () => {
  browser = await openChromium()
  windows = new Windows(browser, world)
  const ana = await makePerson(world, 'ana', 'Ana Ruiz')
  const bench = await openBench(world, ana)
  const names = Array.from({ length: FILES }, (_, at) => `src/f${String(at).padStart(3, '0')}.ts`)
  bench.commit(
    'wide',
    Object.fromEntries(names.map((name) => [name, `export default '${name}'\n`])),
  )
  await bench.open('wide')
  address = `/${bench.project.fullPath}/-/merge_requests/1/diffs`
  page = await windows.open('ana')
}, 120_000)
afterAll(() => browser?.close())

test('only the first of many changed files are drawn, and the others as somebody comes near', async () => {
  await page.goto(address)
  expect(await page.locator('.diff-file').count()).toBe(50)
  expect(await page.locator('.diff-tree a').count()).toBe(FILES)
  await page.locator('.diff-file').last().scrollIntoViewIfNeeded()
  await page.locator('.diff-file').nth(99).waitFor()
  expect(await page.locator('.diff-file').count()).toBeLessThan(FILES)
}, 60_000)

test('the tree leads to a file that is not drawn yet, and to what changed in it', async () => {
  await page.goto(address)
  await page.locator('.diff-tree').getByRole('link', { name: 'f229.ts' }).click()
  const last = page.locator('.diff-file', { hasText: 'src/f229.ts' })
  await last.locator('tr', { hasText: "export default 'src/f229.ts'" }).waitFor()
  const { top } = await last.evaluate((file) => file.getBoundingClientRect())
  expect(top).toBeGreaterThanOrEqual(-5)
  expect(top).toBeLessThan(700)
  expect(windows.faults).toEqual([])
}, 60_000)

test('without script each of them has a link to what changed in it', async () => {
  const plain = await windows.open('ana', { javaScriptEnabled: false })
  await plain.goto(address)
  await plain.locator('.diffs').getByRole('link', { name: 'src/f200.ts' }).click()
  await plain.locator('tr', { hasText: "export default 'src/f200.ts'" }).waitFor()
}, 60_000)
