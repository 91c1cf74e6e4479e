import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChromium } from '../../support/chromium.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let bench: Bench
let browser: Browser
let address: string
let iid: number
const faults: string[] = []

/** A page of somebody who has signed in; what its console says is a fault. */
async function pageOf(name: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  page.setDefaultTimeout(30_000)
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  await page.goto(`${world.url}/users/sign_in`)
  await page.fill('[name="user[login]"]', name)
  await page.fill('[name="user[password]"]', PASSWORD)
  await page.click('main button[type=submit]')
  await page.waitForURL((url) => !url.pathname.endsWith('/sign_in'))
  return page
}

beforeAll(async () => {
  browser = await openChromium()
  const people: Caller[] = [await world.user('ana'), await world.user('ben')]
  for (const { id } of people) await givePassword(world, id)
  const [ana, ben] = people as [Caller, Caller]
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
  bench.commit('topic', { 'README.md': 'one\n2\nthree\n', 'src/a.ts': 'const a = 1\n' })
  const { body } = await bench.open('topic', { reviewer_ids: [ben.id] })
  iid = body.iid
  address = `${world.url}/${bench.project.fullPath}/-/merge_requests/${iid}`
}, 120_000)
afterAll(() => browser?.close())

test('two people review a merge request, each seeing what the other does', async () => {
  const [author, reviewer] = [await pageOf('ana'), await pageOf('ben')]
  await author.goto(address)
  await reviewer.goto(`${address}/diffs`)

  // The form opens below its line, and what is kept stands there without leaving the page.
  const file = reviewer.locator('.diff-file', { hasText: 'README.md' })
  await file.locator('a[data-line="2"]').last().click()
  await file.locator('.inserted [name=body]').fill('Words, please')
  await file.locator('.inserted summary').click()
  await file.locator('[name=suggestion]').fill('two!')
  await file.getByRole('button', { name: 'Add to the review' }).click()
  await file.locator('.draft', { hasText: 'Words, please' }).waitFor()
  expect(new URL(reviewer.url()).pathname).toMatch(/\/diffs$/)

  // By keys: to the next file, which is marked as viewed and folds.
  await reviewer.locator('body').press('j')
  await reviewer.locator('.diff-file', { hasText: 'src/a.ts' }).locator('summary').first().focus()
  await reviewer.keyboard.press('v')
  await reviewer
    .getByText('1 of 2 viewed')
    .or(reviewer.locator('.diff-file .label', { hasText: 'viewed' }))
    .first()
    .waitFor()

  // The open page of the author shows it.
  await reviewer.keyboard.press('s')
  await reviewer.locator('#review [name=summary]').fill('Nearly there')
  await reviewer.locator('#review').getByRole('button', { name: 'Send' }).click()
  await author.locator('#request-threads', { hasText: 'Words, please' }).waitFor()
  await author.locator('#request-threads', { hasText: 'Nearly there' }).waitFor()

  await author.getByRole('button', { name: 'Apply the suggestion' }).click()
  await author.getByText('The suggestion was applied.').waitFor()
  expect(git(bench.project.path, ['show', 'topic:README.md'])).toBe('one\ntwo!\nthree')
  await bench.read(iid)

  await reviewer.goto(`${address}/diffs`)
  await reviewer.locator('body').press('s')
  await reviewer.getByLabel('Approve').check()
  await reviewer.locator('#review').getByRole('button', { name: 'Send' }).click()
  await author
    .locator('#request-side', { hasText: 'Approved by' })
    .getByText('ben')
    .last()
    .waitFor()

  await bench.read(iid)
  await author.goto(address)
  await author.getByRole('button', { name: 'Merge', exact: true }).click()
  await world.runTasks()
  // The reviewer's page shows it by itself.
  await reviewer.locator('#request-summary', { hasText: 'Merged' }).waitFor()
  expect(git(bench.project.path, ['show', 'main:README.md'])).toBe('one\ntwo!\nthree')
  expect(faults).toEqual([])
}, 180_000)
