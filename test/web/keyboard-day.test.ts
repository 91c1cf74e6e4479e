import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChromium } from '../support/chromium.ts'
import { focusedName, makePerson, PASSWORD, tabTo, Windows } from '../support/day.ts'
import { addMember } from '../support/members.ts'
import { type Caller, useWorld } from '../support/world.ts'

const PROJECT = '/ana/tides'

const world = useWorld()
let browser: Browser
let windows: Windows
let ana: Caller
let ben: Caller
let author: Page
let reviewer: Page
let projectId: number

/** Everything that follows from a change is done, and a merge request is checked. */
async function settle(): Promise<void> {
  for (let times = 0; times < 2; times += 1) {
    await world.runTasks()
    await ana.get(`/projects/${projectId}/merge_requests/1`)
  }
}

/** Presses what has this name, and waits for the page that it leads to. */
async function press(page: Page, name: string | RegExp, address: string | RegExp): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
  await page.waitForURL(address)
}

beforeAll(async () => {
  browser = await openChromium()
  windows = new Windows(browser, world)
  ana = await makePerson(world, 'ana', 'Ana Ruiz')
  ben = await makePerson(world, 'ben', 'Ben Okafor')
})
afterAll(() => browser?.close())

test('Ana signs in and makes a project', async () => {
  author = await windows.openAt('/users/sign_in')
  // The first field has the focus already.
  await expect.poll(() => focusedName(author)).toBe('Username or e-mail')
  await author.keyboard.type('ana')
  await tabTo(author, 'Password')
  await author.keyboard.type(PASSWORD)
  await author.keyboard.press('Enter')
  await author.waitForURL(`${world.url}/`)

  await author.keyboard.press('Control+k')
  await author.keyboard.type('new proj')
  await author.keyboard.press('Enter')
  await author.waitForURL('**/projects/new')
  await expect.poll(() => focusedName(author)).toBe('Name')
  await author.keyboard.type('Tides')
  await press(author, 'Create the project', `**${PROJECT}`)
  const found = await ana.get(`/projects/${encodeURIComponent(PROJECT.slice(1))}`)
  projectId = found.body.id
  await addMember(world, projectId, ben.id, 30)
}, 120_000)

test('she edits a file on a branch and opens a merge request', async () => {
  await author.keyboard.press('t')
  await author.waitForURL('**/-/find_file/**')
  await author.keyboard.type('READ')
  await press(author, 'README.md', '**/-/blob/main/README.md')
  await author.keyboard.press('e')
  await author.waitForURL('**/-/edit/main/README.md')
  await author.locator('.cm-content').waitFor()
  await tabTo(author, 'Content of the file')
  await author.keyboard.press('Control+End')
  await author.keyboard.insertText('\nHigh water is at nine.\n')
  await author.keyboard.press('Escape')
  await tabTo(author, 'Commit message')
  await author.keyboard.type('Say when high water is')
  await tabTo(author, 'Branch')
  await author.keyboard.press('Control+a')
  await author.keyboard.type('water')
  await tabTo(author, /^Open a merge request/)
  await author.keyboard.press('Space')
  await press(author, 'Commit the change', '**/-/merge_requests/new?**')
  await press(author, 'Open the merge request', '**/-/merge_requests/1')
  await settle()
}, 120_000)

test('Ben comments on a line with a suggestion, and approves', async () => {
  reviewer = await windows.open('ben')
  await reviewer.goto(`${PROJECT}/-/merge_requests/1`)
  await press(reviewer, 'Changes', '**/diffs')
  await reviewer.keyboard.press('j')
  await tabTo(reviewer, /^Comment on line/)
  const row = reviewer.locator('tr', { has: reviewer.locator('a:focus') })
  while (!(await row.innerText()).includes('High water')) await tabTo(reviewer, /^Comment on line/)
  await reviewer.keyboard.press('Enter')
  // The form is below the line, and has the focus.
  await reviewer.locator('.inserted textarea:focus').waitFor()
  await reviewer.keyboard.type('Say where')
  await tabTo(reviewer, 'Suggest other lines')
  await reviewer.keyboard.press('Enter')
  await tabTo(reviewer, 'Suggested lines')
  await reviewer.keyboard.press('Control+a')
  await reviewer.keyboard.insertText('High water is at nine in the north.')
  await tabTo(reviewer, 'Comment now')
  await reviewer.keyboard.press('Enter')
  await reviewer.locator('.thread', { hasText: 'Say where' }).waitFor()
  // It goes on in the file in which it was said.
  await expect
    .poll(() => reviewer.evaluate('document.activeElement?.closest(".diff-file") !== null'))
    .toBe(true)
  // The project has one before that of the merge request.
  await tabTo(reviewer, 'Overview')
  await press(reviewer, 'Overview', '**/merge_requests/1')
  await tabTo(reviewer, 'Approve')
  await reviewer.keyboard.press('Enter')
  await reviewer.getByRole('button', { name: 'Take the approval back' }).waitFor()
}, 120_000)

test('Ana applies the suggestion, merges and makes a release', async () => {
  await author.reload()
  await tabTo(author, 'Apply the suggestion')
  await author.keyboard.press('Enter')
  await author.getByText('The suggestion was applied.').waitFor()
  await settle()
  await author.reload()
  await tabTo(author, /^Merge$/)
  await author.keyboard.press('Enter')
  await author.locator('.flash').waitFor()
  await settle()
  await author.reload()
  await author.locator('#request-summary', { hasText: 'Merged' }).waitFor()

  await press(author, 'Tags', '**/-/tags')
  await press(author, 'Releases', '**/-/releases')
  await press(author, 'New release', '**/-/releases/new')
  await tabTo(author, 'Tag')
  await author.keyboard.type('v1.0')
  await tabTo(author, 'Title')
  await author.keyboard.type('High water')
  await press(author, 'Make the release', /\/-\/releases\/v1\.0$/)
  expect((await ana.get(`/projects/${projectId}/repository/tags/v1.0`)).status).toBe(200)
  const file = await ana.get(`/projects/${projectId}/repository/files/README.md/raw?ref=v1.0`)
  expect(String(file.body)).toContain('High water is at nine in the north.')
  expect(windows.faults).toEqual([])
}, 120_000)
