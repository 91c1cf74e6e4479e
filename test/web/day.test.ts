import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChromium } from '../support/chromium.ts'
import { newFolder } from '../support/database.ts'
import { findWide, looks, makePerson, PASSWORD, Windows, walkByTab } from '../support/day.ts'
import { freePort } from '../support/free-port.ts'
import { gitClient } from '../support/git-client.ts'
import { addMember } from '../support/members.ts'
import { addRunner } from '../support/runner.ts'
import { type Caller, openWorld, type World } from '../support/world.ts'

const PROJECT = '/ana/weather'
const README = `# Weather

Reads the stations of the coast and says **when to reef**.

\`\`\`ts
const report = await readReport('north')
console.log(report.wind)
\`\`\`

| Station | Height | Since |
|---|---|---|
| North | 12 m | 1998 |
| South | 4 m | 2011 |
`
const REPORT = `import { readStation } from './station.ts'

/** What a station says of the last hour. */
export interface Report {
  readonly wind: number
  readonly gusts: number
}

export async function readReport(name: string): Promise<Report> {
  const values = await readStation(name)
  const wind = values.reduce((sum, one) => sum + one, 0) / values.length
  return { wind, gusts: Math.max(...values) }
}
`
const STATION = `const stations = new Map([['north', 12], ['south', 4]])

export async function readStation(name: string): Promise<number[]> {
  const height = stations.get(name)
  if (height === undefined) throw new Error('no station is called ' + name)
  return [8, 11, 9].map((value) => value + height / 10)
}
`
const CI = `check:
  script:
    - npm test
`

let world: World
let browser: Browser
let windows: Windows
let ana: Caller
let ben: Caller
let author: Page
let reviewer: Page
let clone: string
let request: string
let projectId: number

/** Writes files into the clone, commits and pushes. */
async function push(files: Readonly<Record<string, string>>, message: string): Promise<void> {
  mkdirSync(join(clone, 'src'), { recursive: true })
  for (const [path, text] of Object.entries(files)) writeFileSync(join(clone, path), text)
  await gitClient(clone, ['add', '.'])
  await gitClient(clone, ['commit', '-q', '-m', message])
  await gitClient(clone, ['push', '-q', 'origin', 'HEAD'])
  await world.runTasks()
}

/** The merge request as it is now, when everything that follows from a change is done. */
async function settle(): Promise<void> {
  for (let times = 0; times < 2; times += 1) {
    await ana.get(`/projects/${projectId}/merge_requests/1`)
    await world.runTasks()
  }
}

beforeAll(async () => {
  // Pages show the address that git takes: it must be known before.
  world = await openWorld({ port: await freePort() })
  browser = await openChromium()
  windows = new Windows(browser, world)
  ana = await makePerson(world, 'ana', 'Ana Ruiz')
  ben = await makePerson(world, 'ben', 'Ben Okafor')
  clone = newFolder()
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

test('Ana makes a project and pushes what she has', async () => {
  author = await windows.open('ana')
  await author.goto('/')
  await author.getByRole('link', { name: 'New project' }).first().click()
  await author.getByLabel('Name', { exact: true }).fill('Weather')
  await author.getByLabel('Description').fill('When to reef, from the stations of the coast')
  await author
    .getByLabel('First commit')
    .selectOption({ label: 'Empty: I push a repository that I have' })
  await author.getByRole('button', { name: 'Create the project' }).click()
  await author.waitForURL(`**${PROJECT}`)
  const commands = await author.locator('pre.commands').last().textContent()
  const [, address = ''] = /git remote add origin '([^']+)'/.exec(commands ?? '') ?? []
  expect(new URL(address).pathname).toBe(`${PROJECT}.git`)
  const found = await ana.get(`/projects/${encodeURIComponent(PROJECT.slice(1))}`)
  projectId = found.body.id
  await addMember(world, projectId, ben.id, 30)
  await ana.put(`/projects/${projectId}`, { merge_method: 'ff' })

  // As the page says: her name and her password.
  const withPassword = new URL(new URL(address).pathname, world.url)
  withPassword.username = 'ana'
  withPassword.password = PASSWORD
  await gitClient(clone, ['init', '-q', '-b', 'main', '.'])
  await gitClient(clone, ['remote', 'add', 'origin', withPassword.href])
  const files = { 'README.md': README, 'src/report.ts': REPORT, 'src/station.ts': STATION }
  await push({ ...files, '.svc-ci.yml': CI }, 'Read the stations of the coast')
  await author.reload()
  await author.getByRole('heading', { name: 'Weather', level: 1 }).last().waitFor()
  await author.locator('.markdown', { hasText: 'when to reef' }).waitFor()
}, 120_000)

test('she finds a file and edits it in place, on a branch with a merge request', async () => {
  await author.keyboard.press('t')
  await author.waitForURL('**/-/find_file/**')
  await author.getByRole('searchbox', { name: 'Part of the path' }).fill('report')
  await author.locator('main').getByRole('link', { name: 'src/report.ts' }).click()
  await author.waitForURL('**/-/blob/main/src/report.ts')
  await author.getByRole('link', { name: 'Edit', exact: true }).click()
  const editor = author.locator('.cm-content')
  await editor.click()
  await author.keyboard.press('Control+End')
  await author.keyboard.insertText('\nexport const isRough = ({ gusts }: Report) => gusts > 10\n')
  // By the keyboard alone out of the editor, in which Tab indents.
  await author.keyboard.press('Escape')
  await author.keyboard.press('Tab')
  await author.getByLabel('Commit message').fill('Report rough weather')
  await author.getByLabel('Branch', { exact: true }).fill('rough')
  await author.getByLabel('Open a merge request').check()
  await author.getByRole('button', { name: 'Commit the change' }).click()
  await author.waitForURL('**/-/merge_requests/new?**')
  await author.getByLabel('Title').fill('Report rough weather')
  await author.getByLabel('Description').fill('Gusts decide, **not** the mean of the wind.')
  await author.getByLabel('Reviewers').selectOption({ label: 'Ben Okafor (@ben)' })
  await author.getByRole('button', { name: 'Open the merge request' }).click()
  await author.waitForURL('**/-/merge_requests/1')
  request = new URL(author.url()).pathname
  await settle()
}, 120_000)

test('Ben comments on a line, and Ana applies what he suggests', async () => {
  reviewer = await windows.open('ben')
  await reviewer.goto('/')
  await reviewer.locator('main').getByRole('link', { name: 'Report rough weather' }).first().click()
  await reviewer.getByRole('link', { name: 'Changes', exact: true }).click()
  const file = reviewer.locator('.diff-file', { hasText: 'src/report.ts' })
  const row = file.locator('tr', { hasText: 'isRough' })
  await row.locator('a[data-line]').last().click()
  await file.locator('.inserted [name=body]').fill('A name for the limit, please')
  await file.locator('.inserted summary').click()
  await file
    .locator('[name=suggestion]')
    .fill('export const isRough = ({ gusts }: Report, limit = 10) => gusts > limit')
  await file.getByRole('button', { name: 'Comment now' }).click()
  await author.goto(request)
  await author.locator('#request-threads', { hasText: 'A name for the limit' }).waitFor()
  await author.getByRole('button', { name: 'Apply the suggestion' }).click()
  await author.getByText('The suggestion was applied.').waitFor()
  await settle()
  await reviewer.goto(request)
  await reviewer.getByRole('button', { name: 'Approve', exact: true }).first().click()
  await reviewer.getByRole('button', { name: 'Take the approval back' }).waitFor()
}, 120_000)

test('the pipeline is seen when it runs and when it has succeeded', async () => {
  const runner = await addRunner(world, ana, projectId)
  await settle()
  let seen = 0
  for (let job = await runner.request(); job; job = await runner.request()) {
    if (job.git_info.ref === 'rough') {
      await author.goto(`${request}/pipelines`)
      await author.locator('main').getByText('running').first().waitFor()
      seen += 1
    }
    await runner.finish(job, 'success')
    await world.runTasks()
  }
  expect(seen).toBeGreaterThan(0)
  await author.goto(request)
  await author.locator('#request-side').getByText('success').waitFor()
}, 120_000)

test('a conflict is seen, resolved, and the branch rebased, merged and released', async () => {
  const elsewhere = REPORT.replace(
    /\n$/,
    '\n\nexport const isCalm = ({ wind }: Report) => wind < 3\n',
  )
  await push({ 'src/report.ts': elsewhere }, 'Report calm weather')
  await settle()
  await author.goto(request)
  await author.getByText('It conflicts with main.').waitFor()
  // She resolves it on her own machine, with a straight history.
  await author.getByText('Resolve the conflicts with git').click()
  await author.locator('pre.commands', { hasText: 'git merge origin/main' }).waitFor()
  await gitClient(clone, ['fetch', '-q', 'origin'])
  await gitClient(clone, ['checkout', '-q', 'rough'])
  await gitClient(clone, ['rebase', '-q', '-X', 'theirs', 'origin/main'])
  await gitClient(clone, ['push', '-q', '--force', 'origin', 'rough'])
  await world.runTasks()

  await gitClient(clone, ['checkout', '-q', 'main'])
  await push({ 'README.md': `${README}\nTides come next.\n` }, 'Say what comes next')
  await settle()
  await author.reload()
  await author.getByText('main has moved on.').waitFor()
  await author.getByRole('button', { name: 'Rebase' }).click()
  await author.locator('.flash').waitFor()
  await world.runTasks()
  await settle()
  await author.goto(request)
  await author.getByRole('button', { name: /^Merge/ }).click()
  await author.locator('.flash').waitFor()
  await settle()
  await author.goto(request)
  await author.locator('#request-summary', { hasText: 'Merged' }).waitFor()

  await author.getByRole('link', { name: 'Tags' }).first().click()
  await author.goto(`${PROJECT}/-/releases/new`)
  await author.getByLabel('Tag', { exact: true }).fill('v1.0')
  await author.getByLabel('Title').fill('Rough weather')
  await author.getByLabel('Notes').fill('- says when gusts are **rough**')
  await author.getByRole('button', { name: 'Make the release' }).click()
  await author.getByRole('heading', { name: 'Rough weather' }).first().waitFor()
  expect((await ana.get(`/projects/${projectId}/repository/tags/v1.0`)).status).toBe(200)
  expect(windows.faults).toEqual([])
}, 120_000)

/** What people read in that day. */
const reading: Readonly<Record<string, string>> = {
  home: '/',
  project: PROJECT,
  files: `${PROJECT}/-/tree/main/src`,
  file: `${PROJECT}/-/blob/main/src/report.ts`,
  blame: `${PROJECT}/-/blame/main/src/report.ts`,
  commits: `${PROJECT}/-/commits/main`,
  commit: `${PROJECT}/-/commit/main~1`,
  branches: `${PROJECT}/-/branches`,
  releases: `${PROJECT}/-/releases`,
  'merge-requests': `${PROJECT}/-/merge_requests?state=all`,
  'merge-request': `${PROJECT}/-/merge_requests/1`,
  changes: `${PROJECT}/-/merge_requests/1/diffs`,
}

test('the same is read without script', async () => {
  const page = await windows.open('ben', { javaScriptEnabled: false })
  const words: Readonly<Record<string, string>> = {
    home: 'When to reef',
    project: 'when to reef',
    files: 'station.ts',
    file: 'readReport',
    blame: 'Read the stations of the coast',
    commits: 'Say what comes next',
    commit: 'Ana Ruiz',
    branches: 'main',
    releases: 'Rough weather',
    'merge-requests': 'Report rough weather',
    'merge-request': 'approved this merge request',
    changes: 'isRough',
  }
  for (const [name, address] of Object.entries(reading)) {
    const answer = await page.goto(address)
    expect([name, answer?.status()]).toEqual([name, 200])
    // Browsers end a paragraph where a form begins, and its row with it.
    expect([
      name,
      /<p\b[^>]*>(?:(?!<\/p>)[\s\S])*?<form/.test((await answer?.text()) ?? ''),
    ]).toEqual([name, false])
    expect([name, await page.locator('main').innerText()]).toEqual([
      name,
      expect.stringContaining(words[name] ?? '?'),
    ])
  }
  expect(windows.faults).toEqual([])
}, 120_000)

test('the same is read by the keyboard alone', async () => {
  const page = await windows.open('ben')
  const unseen: unknown[] = []
  for (const [name, address] of Object.entries(reading)) {
    await page.goto(address)
    await page.evaluate('document.activeElement?.blur()')
    const walked = await walkByTab(page)
    // First the skip link, last the foot of the page: nothing holds the focus before.
    expect([name, walked.names[0]]).toEqual([name, 'Skip to the content'])
    expect([name, walked.names.at(-1)]).toEqual([name, 'API reference'])
    if (walked.unseen.length > 0) unseen.push([name, walked.unseen])
  }
  expect(unseen).toEqual([])

  // The skip link leads past the head of the page.
  await page.goto(PROJECT)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true)

  // Ctrl K, a few letters, Enter.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('merge req')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/merge_requests**')
  await page.goto(PROJECT)
  for (const [keys, address] of [
    ['g f', '**/-/tree'],
    ['g c', '**/-/commits'],
    ['g m', '**/-/merge_requests'],
    ['g p', `**${PROJECT}`],
  ] as const) {
    for (const key of keys.split(' ')) await page.keyboard.press(key)
    await page.waitForURL(address)
  }
  expect(windows.faults).toEqual([])
}, 240_000)

/** `npm run screenshots` keeps pictures of these. */
const folder = process.env.SCREENSHOTS
if (folder) mkdirSync(folder, { recursive: true })

// The dark look is as wide as the light one, and is looked at for its pictures alone.
test.each(looks.filter(({ name }) => folder || name !== 'dark'))(
  'twelve pages fit their window: $name',
  async (look) => {
    const page = await windows.open('ben', look.options)
    expect(await findWide(page, reading, { folder, look: look.name })).toEqual([])
    expect(windows.faults).toEqual([])
  },
  120_000,
)
