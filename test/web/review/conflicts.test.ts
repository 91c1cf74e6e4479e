import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser as Chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { openChromium } from '../../support/chromium.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
const hostile = '"><img src=x onerror=alert(1)></textarea><script>alert(2)</script>'
const file = 'a <b> & "c".html'

const world = useWorld()
let bench: Bench
let dora: Caller
let developer: Browser
let reporter: Browser
let chromium: Chromium
let count = 0

beforeAll(async () => {
  const ana = await world.user('ana')
  dora = await world.user('dora')
  const rita = await world.user('rita')
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, dora.id, 30)
  await addMember(world, bench.project.id, rita.id, 20)
  developer = await signedInBrowser(world, dora)
  reporter = await signedInBrowser(world, rita)
  chromium = await openChromium()
}, 120_000)
afterAll(() => chromium?.close())

/** A merge request that conflicts in two places of a file whose name and texts are hostile. */
async function conflicting() {
  count += 1
  const text = (one: string, two: string) => `top\n${one}\na\nb\nc\nd\ne\n${two}\nend\n`
  const branch = `topic-${count}`
  bench.commit('main', { [file]: text('1', '2') })
  bench.commit(branch, { [file]: text(`ours ${hostile}`, 'ours 2') })
  bench.commit('main', { [file]: text('theirs 1', `theirs ${hostile}`) })
  const { body } = await bench.open(branch)
  const address = `/${bench.project.fullPath}/-/merge_requests/${body.iid}`
  const read = await dora.get(`${bench.api}/${body.iid}/conflicts`)
  const ids = read.body.files[0].parts.flatMap(({ id }: { id?: string }) => id ?? [])
  expect(ids.length).toBe(2)
  const shown = () => git(bench.project.path, ['show', `${branch}:${file}`])
  return { branch, address, page: `${address}/conflicts`, ids, text, shown }
}

test('conflicts are resolved without script, and what is missing is named with nothing lost', async () => {
  const { address, page, ids, text, shown } = await conflicting()
  const overview = await developer.get(address)
  expect(overview.text).toMatch(/href="[^"]*\/conflicts"[^>]*>Resolve the conflicts/)
  const first = await developer.get(page)
  expect(first.status).toBe(200)
  expect(first.text).not.toMatch(/<img src=x|<script>alert/)
  expect(first.text).toContain('&lt;img src=x onerror=alert(1)>')
  const section = (at: number) => `files[0][sections][${ids[at]}]`
  const refused = await submitForm(developer, page, page, { [section(0)]: 'theirs' })
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('has sections without a side chosen')
  expect(refused.text).not.toMatch(/<img src=x|<script>alert/)
  const kept = new RegExp(`<input[^>]*${ids[0]}[^>]*value="theirs"[^>]*checked`)
  expect(refused.text).toMatch(kept)
  const sent = { [section(0)]: 'theirs', [section(1)]: 'ours' }
  const done = await submitForm(developer, page, page, sent)
  expect([done.status, done.location]).toEqual([303, address])
  expect(`${shown()}\n`).toBe(text('theirs 1', 'ours 2'))
})

test('a whole text is kept with the newlines of the file', async () => {
  const { page, shown } = await conflicting()
  const whole = { 'files[0][whole]': 'true', 'files[0][content]': 'one\r\ntwo\r\n' }
  expect((await submitForm(developer, page, page, whole)).status).toBe(303)
  expect(shown()).toBe('one\ntwo')
})

test('a branch that moved is reported, and the form is sent again on its new head', async () => {
  const { branch, page, ids } = await conflicting()
  const before = await developer.get(page)
  bench.commit(branch, { 'later.txt': 'x' })
  const [form = ''] = before.text.match(/<form[^>]*conflicts"[\s\S]*?<\/form>/) ?? []
  const chosen = Object.fromEntries(ids.map((id: string) => [`files[0][sections][${id}]`, 'ours']))
  const late = await developer.submit({ ...before, text: form }, page, chosen)
  expect(late.status).toBe(409)
  expect(late.text).toContain('has moved meanwhile')
  const [again = ''] = late.text.match(/<form[^>]*conflicts"[\s\S]*?<\/form>/) ?? []
  expect((await developer.submit({ ...late, text: again }, page, chosen)).status).toBe(303)
})

test('who may not push sees the conflicts without a form, and so does everybody where one is binary', async () => {
  const { branch, address, page } = await conflicting()
  const shown = await reporter.get(page)
  expect(shown.text).toContain('Conflict 1 of 2')
  expect(shown.text).not.toContain(`action="${page}"`)
  expect((await reporter.get(address)).text).toContain('Show the conflicts')
  bench.commit(branch, { bin: 'a\0b' })
  bench.commit('main', { bin: 'a\0c' })
  const binary = await developer.get(page)
  expect(binary.text).toContain('it is no text')
  expect(binary.text).toContain('Resolve the conflicts with git')
  expect(binary.text).not.toContain(`action="${page}"`)
})

test('in a browser with script', async () => {
  const { page: address, ids, text, shown } = await conflicting()
  const page = await (
    await chromium.newContext({ viewport: { width: 390, height: 800 } })
  ).newPage()
  page.setDefaultTimeout(30_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('dialog', (dialog) => faults.push(dialog.message()))
  await page.goto(`${world.url}/users/sign_in`)
  await page.fill('[name="user[login]"]', 'dora')
  await page.fill('[name="user[password]"]', PASSWORD)
  await page.click('main button[type=submit]')
  await page.waitForURL((url) => !url.pathname.endsWith('/sign_in'))
  await page.goto(world.url + address)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  expect(wide).toBeLessThanOrEqual(0)
  await page.click('summary:has-text("Write the whole text")')
  await page.evaluate(axe)
  // What axe adds to the window is known to its own types alone.
  const violations = (await page.evaluate(
    'axe.run(document).then((done) => done.violations.map(({ id, impact }) => [id, impact]))',
  )) as [string, string][]
  const grave = violations.filter(([, impact]) => impact === 'serious' || impact === 'critical')
  expect(grave).toEqual([])
  await page.check(`[name="files[0][sections][${ids[0]}]"][value=ours]`)
  await page.check(`[name="files[0][sections][${ids[1]}]"][value=theirs]`)
  await page.click('text=Commit to the source branch')
  await page.waitForURL((url) => !url.pathname.endsWith('/conflicts'))
  expect(`${shown()}\n`).toBe(text(`ours ${hostile}`, `theirs ${hostile}`))
  expect(faults).toEqual([])
}, 120_000)
