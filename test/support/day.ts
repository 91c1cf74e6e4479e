import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { givePassword, PASSWORD } from './submit-form.ts'
import type { Caller, World } from './world.ts'

export { PASSWORD }

/** Opens windows, and remembers what was wrong in any of them. */
export class Windows {
  readonly faults: string[] = []
  readonly #browser: Browser
  readonly #world: World

  constructor(browser: Browser, world: World) {
    this.#browser = browser
    this.#world = world
  }

  /** A window that somebody has signed in with. */
  async open(login: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.openAt('/users/sign_in', options)
    await signIn(page, login)
    return page
  }

  /** A window of nobody, at an address. */
  async openAt(address: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      viewport: { width: 1100, height: 700 },
      baseURL: this.#world.url,
      ...options,
    })
    context.setDefaultTimeout(20_000)
    const page = await context.newPage()
    this.#watch(page)
    await page.goto(address)
    return page
  }

  #watch(page: Page): void {
    page.on('pageerror', (error) => this.faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() !== 'error') return
      this.faults.push(`${new URL(page.url()).pathname}: ${message.text()}`)
    })
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(this.#world.url) && !url.startsWith('data:')) this.faults.push(url)
    })
  }
}

async function signIn(page: Page, login: string): Promise<void> {
  await page.getByLabel('Username or e-mail').fill(login)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.locator('main').getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((url) => !url.pathname.endsWith('/sign_in'))
}

/** A user with a name and a password. */
export async function makePerson(world: World, username: string, name: string): Promise<Caller> {
  const caller = await world.user(username)
  await world.root.put(`/users/${caller.id}`, { name })
  await givePassword(world, caller.id)
  return caller
}

/** What somebody meets who goes through a page by Tab alone, until they have left it or come back to the beginning. */
export async function walkByTab(page: Page): Promise<{ names: string[]; unseen: string[] }> {
  const names: string[] = []
  const unseen: string[] = []
  for (let steps = 0; steps < 400; steps += 1) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate<Focused | null>(FOCUSED)
    if (!at || at.isAgain) return { names, unseen }
    names.push(at.name)
    if (!at.isSeen) unseen.push(at.name)
  }
  throw new Error(`no end of ${page.url()} by Tab: ${names.slice(-5).join(', ')}`)
}

/** Goes on by Tab until what has this name has the focus, which must be seen there. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const met: string[] = []
  while (met.length < 300) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate<Focused | null>(FOCUSED)
    met.push(at?.name ?? '')
    const isThere = at && (typeof name === 'string' ? at.name === name : name.test(at.name))
    if (!isThere) continue
    expect([at.name, at.isSeen]).toEqual([at.name, true])
    return
  }
  throw new Error(`nothing on ${page.url()} is called ${name}: ${met.slice(0, 60).join(', ')}`)
}

/** The name of what has the focus; empty where nothing has. */
export async function focusedName(page: Page): Promise<string> {
  return (await page.evaluate<Focused | null>(FOCUSED))?.name ?? ''
}

interface Focused {
  readonly name: string
  readonly isSeen: boolean
  readonly isAgain: boolean
}

/** Runs in the page: what has the focus, and whether somebody can see that. */
const FOCUSED = `(() => {
  let element = document.activeElement
  // The editor lives in a tree of its own.
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  if (!element || element === document.body) return null
  // A field of a date has several stops; the browser itself marks the later ones within it.
  const isWithin = element === window.walkedLast
  const isAgain = element.dataset.walked === 'true' && !isWithin
  element.dataset.walked = 'true'
  window.walkedLast = element
  const { host } = element.getRootNode()
  const { width, height, top, bottom, left, right } = element.getBoundingClientRect()
  const isInside = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
  const isOutlined = [element, ...(host ? [host] : [])].some((one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
  })
  const label = element.labels?.[0]?.textContent
  const words = element.getAttribute('aria-label') || (label || element.textContent).trim()
  return {
    name: words || element.getAttribute('name') || element.outerHTML.slice(0, 80),
    isSeen: isWithin || (width > 0 && height > 0 && isInside && isOutlined),
    isAgain,
  }
})()`

const IS_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'

interface Look {
  readonly name: string
  readonly options: BrowserContextOptions
}

export const looks: readonly Look[] = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'phone', options: { viewport: { width: 390, height: 844 } } },
]

/** Gives the addresses whose page is wider than its window, and takes a picture of each where there is a folder for it. */
export async function findWide(
  page: Page,
  addresses: Readonly<Record<string, string>>,
  { folder, look }: { readonly folder: string | undefined; readonly look: string },
): Promise<string[]> {
  const open = new Set<Request>()
  page.on('request', (request) => request.resourceType() !== 'eventsource' && open.add(request))
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  const wide: string[] = []
  for (const [name, address] of Object.entries(addresses)) {
    await page.goto(address)
    // Parts that come later have come.
    await expect.poll(() => open.size).toBe(0)
    if (folder !== undefined) {
      const path = join(folder, `${name}-${look}.png`)
      await page.screenshot({ path, animations: 'disabled' })
    }
    if (await page.evaluate<boolean>(IS_WIDE)) wide.push(`${name}: ${address}`)
  }
  return wide
}
