import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChromium } from '../../support/chromium.ts'
import { freePort } from '../../support/free-port.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { openWorld, type World } from '../../support/world.ts'

const PAGE = '/-/user_settings/two_factor'
let world: World
let url: string
let browser: Browser
let page: Page
const faults: string[] = []

beforeAll(async () => {
  const port = await freePort()
  url = `http://localhost:${port}`
  world = await openWorld({ port, externalUrl: url })
  const ana = await world.user('ana')
  await givePassword(world, ana.id)
  browser = await openChromium()
  page = await browser.newPage()
  page.on('console', (message) => {
    // A refusal is an answer that the browser notes too.
    if (message.type() === 'error' && !/status of 40/.test(message.text()))
      faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('WebAuthn.enable')
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}, 120_000)
afterAll(async () => {
  await browser.close()
  await world.close()
})

async function giveName() {
  await page.goto(`${url}/users/sign_in`)
  await page.fill('[name="user[login]"]', 'ana')
  await page.fill('[name="user[password]"]', PASSWORD)
  await page.click('main form:has([name="user[login]"]) button[type=submit]')
}

async function signOut() {
  await page.click('summary[aria-label^="Account of"]')
  await page.click('text=Sign out')
  await page.waitForURL(/sign_in/)
}

test('Chromium makes a passkey, signs in with it after the password and alone, and makes it once', async () => {
  await giveName()
  await page.waitForURL(`${url}/`)
  await page.goto(url + PAGE)
  await page.fill('[name=name]', 'this laptop')
  await page.click('text=Add a key')
  await page.waitForSelector('text=Keep these recovery codes')
  await page.goto(url + PAGE)
  expect(await page.locator('text=this laptop').first().isVisible()).toBe(true)

  await page.fill('[name=name]', 'again')
  await page.click('text=Add a key')
  await page.waitForSelector('text=This key was added before.')

  await signOut()
  await giveName()
  await page.waitForURL(/second_factor/)
  await page.click('text=Use your key')
  await page.waitForURL(`${url}/`)

  await signOut()
  await page.click('text=Sign in with a passkey')
  await page.waitForURL(`${url}/`)
  expect(await page.locator('summary[aria-label="Account of ana"]').count()).toBe(1)
  expect(faults).toEqual([])
}, 120_000)
