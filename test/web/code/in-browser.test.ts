import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChromium } from '../../support/chromium.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let open: TestProject
let browser: Browser
let page: Page
const faults: string[] = []

beforeAll(async () => {
  open = await addProject(world, ana, 'basic', { path: 'open' })
  await givePassword(world, ana.id)
  const lines = Array.from({ length: 40 }, (_, index) => `const a${index} = ${index}\n`).join('')
  const actions = [{ action: 'create', file_path: 'code.ts', content: lines }]
  const body = { branch: 'main', commit_message: 'Add code', actions }
  await ana.post(`${open.api}/commits`, body)
  browser = await openChromium()
  page = await browser.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  await page.goto(`${world.url}/users/sign_in`)
  await page.fill('[name="user[login]"]', 'ana')
  await page.fill('[name="user[password]"]', PASSWORD)
  await page.click('main button[type=submit]')
  await page.waitForURL((url) => !url.pathname.includes('sign_in'))
}, 120_000)
afterAll(() => browser.close())

const goTo = (at: string) => page.goto(`${world.url}/ana/open${at}`)

test('the last commits come into the list of files by themselves', async () => {
  await goTo('/-/tree/main')
  await page.waitForSelector('.files .commit >> text=Add code')
  expect(faults).toEqual([])
}, 60_000)

test('a title from right to left leaves the author and the time after it', async () => {
  const actions = [{ action: 'create', file_path: 'ملف.txt', content: 'مرحبا\n' }]
  const author = { author_name: 'آنا العربية', author_email: 'ana@example.com' }
  const body = { branch: 'main', commit_message: 'أضف ملف', ...author, actions }
  expect((await ana.post(`${open.api}/commits`, body)).status).toBe(201)
  await goTo('/-/commits/main')
  const line = page.locator('.commit-line', { hasText: 'أضف ملف' })
  const [title, facts, time] = await Promise.all(
    ['.title', '.facts', '.facts relative-time'].map((part) => line.locator(part).boundingBox()),
  )
  // Each begins where what stands before it has ended.
  const ends = [title, facts].map((one) => one && Math.round(one.x + one.width))
  expect(facts && title && facts.y >= title.y).toBe(true)
  expect(ends[1]).toBe(time && Math.round(time.x + time.width))
}, 60_000)

test('lines are marked by the address, and by Shift and a click', async () => {
  await goTo('/-/blob/main/code.ts#L3-5')
  expect(await page.locator('.line.marked').count()).toBe(3)
  await page.click('.line-number[data-number="7"]')
  await page.click('.line-number[data-number="9"]', { modifiers: ['Shift'] })
  await page.waitForFunction(() => location.hash === '#L7-9')
  expect(await page.locator('.line.marked').count()).toBe(3)
  await page.keyboard.press('y')
  await page.waitForURL(/\/-\/blob\/[0-9a-f]{40}\/code\.ts#L7-9$/)
  expect(faults).toEqual([])
}, 60_000)

test('a file is found while somebody types, and opened by Enter', async () => {
  await goTo('/-/tree/main')
  await page.keyboard.press('t')
  await page.waitForURL(/find_file/)
  await page.keyboard.type('cdts')
  await page.waitForFunction(() => document.querySelectorAll('#found a').length === 1)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/-\/blob\/main\/code\.ts$/)
  expect(faults).toEqual([])
}, 60_000)

test('the editor sends what was typed into it, under the policy of pages', async () => {
  await goTo('/-/edit/main/code.ts')
  const content = page.locator('.code-editor .cm-content')
  await content.click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('// typed')
  expect(await content.evaluate((element) => getComputedStyle(element).whiteSpace)).toContain('pre')
  await page.keyboard.press('Escape')
  await page.click('text=Commit the change')
  await page.waitForURL(/\/-\/blob\/main\/code\.ts$/)
  expect(open.git('show', 'main:code.ts')).toMatch(/^\/\/ typedconst a0 = 0\n/)
  expect(faults).toEqual([])
}, 60_000)
