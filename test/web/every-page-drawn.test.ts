import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pages } from '../../src/web/pages.ts'
import { openChromium } from '../support/chromium.ts'
import { openPageWorld, type PageWorld } from '../support/page-world.ts'
import { PASSWORD } from '../support/submit-form.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const looks = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
} as const

const rulesOf = {
  light: { resultTypes: ['violations'] },
  // The dark look differs in its colours alone.
  dark: { runOnly: ['color-contrast'] },
  phone: { resultTypes: ['violations'] },
} as const

let given: PageWorld
let chromium: Browser
beforeAll(async () => {
  given = await openPageWorld()
  chromium = await openChromium()
})
afterAll(async () => {
  await chromium.close()
  await given.world.close()
})

async function signIn(context: BrowserContext): Promise<void> {
  const page = await context.newPage()
  await page.goto(`${given.world.url}/users/sign_in`)
  await page.fill('[name="user[login]"]', 'owner')
  await page.fill('[name="user[password]"]', PASSWORD)
  await page.click('main button[type=submit]')
  await page.waitForURL(`${given.world.url}/`)
  await page.close()
}

/** `npm run screenshots` keeps pictures of whole pages, named by their declaration. */
const folder = process.env.SCREENSHOTS && join(process.env.SCREENSHOTS, 'every-page')
if (folder) mkdirSync(folder, { recursive: true })

function pictureOf(address: string, look: string): string {
  const name = address.replace(/[*:]/g, '').replaceAll('/', '_').slice(1) || 'home'
  return join(folder ?? '', `${name}-${look}.png`)
}

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

const IS_WIDER = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** Check boxes that are given the width of a text field stand far from their words. */
const WIDE_BOXES = `[...document.querySelectorAll('[type=checkbox], [type=radio]')]
  .filter((box) => box.offsetWidth > 40).map((box) => box.name)`

/** What is wrong with the page that is open, as it looks now. */
async function faultsOf(page: Page, look: keyof typeof looks): Promise<unknown[]> {
  const found: unknown[] = []
  const wide = await page.evaluate<number>(IS_WIDER)
  if (wide > 0) found.push([`is ${wide} pixels wider than the window`])
  const boxes = await page.evaluate<string[]>(WIDE_BOXES)
  if (boxes.length > 0) found.push(['has wide check boxes', ...boxes])
  // What axe adds to the window is known to its own types alone.
  const violations = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(rulesOf[look])}).then((done) => done.violations)`,
  )) as Violation[]
  for (const { id, impact, nodes } of violations) {
    if (impact !== 'serious' && impact !== 'critical') continue
    found.push([id, nodes[0]?.html.slice(0, 200), nodes.length])
  }
  return found
}

test('every page is drawn without an error or a serious finding, and no wider than the window, in each look', async () => {
  const context = await chromium.newContext({ reducedMotion: 'reduce' })
  await signIn(context)
  // Sent once, not with each page.
  await context.addInitScript(axe)
  const page = await context.newPage()
  const found: unknown[] = []
  let address = ''
  page.on('console', (message) => {
    if (message.type() === 'error') found.push([address, message.text()])
  })
  page.on('pageerror', (error) => found.push([address, error.message]))
  for (const one of pages) {
    address = given.exampleOf(one)
    for (const look of ['light', 'dark', 'phone'] as const) {
      const { viewport, colorScheme } = looks[look]
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      // The others are the same page: nothing in it asks for its look but its style.
      if (look === 'light') await page.goto(given.world.url + address)
      if (folder) {
        await page.waitForLoadState('load')
        await page.screenshot({ path: pictureOf(one.address, look), fullPage: true })
      }
      for (const fault of await faultsOf(page, look)) found.push([address, look, fault])
    }
  }
  await context.close()
  expect(found).toEqual([])
}, 180_000)
