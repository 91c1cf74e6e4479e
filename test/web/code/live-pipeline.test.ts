import type { Browser as Chromium, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { openChromium } from '../../support/chromium.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { givePassword, PASSWORD, signedInBrowser } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let guest: Browser
let bench: Bench
let chromium: Chromium
let page: Page
let project: string
const faults: string[] = []

beforeAll(async () => {
  const ben = await world.user('ben')
  bench = await openBench(world, ana)
  project = `/${bench.project.fullPath}`
  await addMember(world, bench.project.id, ben.id, 10)
  guest = await signedInBrowser(world, ben)
  await givePassword(world, ana.id)
  chromium = await openChromium()
  page = await chromium.newPage()
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  await page.goto(`${world.url}/users/sign_in`)
  await page.fill('[name="user[login]"]', 'ana')
  await page.fill('[name="user[password]"]', PASSWORD)
  await page.click('main button[type=submit]')
  await page.waitForURL(`${world.url}/`)
}, 120_000)
afterAll(() => chromium?.close())

async function report(sha: string, ref: string, state: string): Promise<void> {
  const sent = { state, ref, name: 'checks' }
  const reply = await ana.post(`/projects/${bench.project.id}/statuses/${sha}`, sent)
  expect(reply.status).toBe(201)
  await world.runTasks()
}

test.each([
  ['a commit', 'commit'],
  ['a project', ''],
])(
  'the open page of %s shows how its pipeline stands, over one connection',
  async (_, kind) => {
    const sha = bench.commit('main', { [`for-${kind}`]: 'x\n' })
    const followed: string[] = []
    const count = (request: Request) => {
      if (request.url().includes('events')) followed.push(request.url())
    }
    page.on('request', count)
    await page.goto(world.url + project + (kind === '' ? '' : `/-/commit/${sha}`))
    await expect.poll(() => followed.length).toBe(1)
    await report(sha, 'main', 'running')
    await page.locator('#commit-pipeline', { hasText: 'running' }).waitFor()
    await report(sha, 'main', 'success')
    await page.locator('#commit-pipeline', { hasText: 'success' }).waitFor()
    page.off('request', count)
    expect(followed).toHaveLength(1)
    await page.reload()
    expect(await page.locator('#commit-pipeline').textContent()).toContain('success')
    expect(faults).toEqual([])
  },
  60_000,
)

test('the changes of a merge request show how its pipeline stands', async () => {
  const sha = bench.commit('topic', { 'README.md': 'one\n2\nthree\n' })
  const { iid } = (await bench.open('topic')).body
  await page.goto(`${world.url}${project}/-/merge_requests/${iid}/diffs`)
  await report(sha, 'topic', 'running')
  await page.locator('#request-summary', { hasText: 'running' }).waitFor()
  await report(sha, 'topic', 'failed')
  await page.locator('#request-summary', { hasText: 'failed' }).waitFor()
  expect(faults).toEqual([])
}, 60_000)

test('pipelines are followed by whoever may see them', async () => {
  const sha = bench.project.git('rev-parse', 'main')
  const events = `${project}/-/commit/${sha}/pipeline_events`
  expect((await guest.get(events)).status).toBe(403)
  expect((await new Browser(world.url).get(events)).status).toBe(404)
  await ana.put(`/projects/${bench.project.id}`, {
    visibility: 'public',
    builds_access_level: 'private',
  })
  const { status, text } = await new Browser(world.url).get(`${project}/-/commit/${sha}`)
  expect([status, text.includes('pipeline_events')]).toEqual([200, false])
})
