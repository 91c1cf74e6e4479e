import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller
let bench: Bench
let address: string
let events: string
let cookie: string

beforeAll(async () => {
  world = await openWorld()
  ana = await world.user('ana')
  await givePassword(world, ana.id)
  bench = await openBench(world, ana)
  bench.commit('topic', { 'README.md': 'one\n2\nthree\n' })
  const { body } = await bench.open('topic')
  address = `/${bench.project.fullPath}/-/merge_requests/${body.iid}`
  const owner = new Browser(world.url)
  await owner.signIn('ana', PASSWORD)
  const page = await owner.get(address)
  const [, live = ''] = /data-live="([^"]+)"/.exec(page.text) ?? []
  events = live.replaceAll('&amp;', '&')
  cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
})
afterAll(() => world.close())

/** What a stream of events says until a text is in it. */
async function readUntil(response: Response, text: string): Promise<string> {
  let said = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    said += decoder.decode(chunk as Uint8Array)
    if (said.includes(text)) return said
  }
  return said
}

function follow(path = events, headers: Readonly<Record<string, string>> = { Cookie: cookie }) {
  const leave = new AbortController()
  const reply = fetch(world.url + path, { headers, signal: leave.signal })
  return { reply, leave: () => leave.abort() }
}

test('a page gets events for its parts that have changed, also for changes before it followed', async () => {
  const { reply, leave } = follow()
  const response = await reply
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream',
  ])
  await ana.post(`${bench.api}/1/discussions`, { body: 'well' })
  const said = await readUntil(response, 'event: changed')
  expect(said).toMatch(/id: \S+\nevent: changed\ndata: request-threads request-state\n\n$/)
  leave()
  const late = follow()
  expect(await readUntil(await late.reply, 'event: changed')).toContain('request-threads')
  late.leave()
  const [, seen = ''] = /id: (\S+)/.exec(said) ?? []
  const again = follow(events, { Cookie: cookie, 'Last-Event-ID': seen })
  const response2 = await again.reply
  await ana.put(`${bench.api}/1`, { title: 'Draft: Take it' })
  expect(await readUntil(response2, 'event: changed')).toContain('request-summary')
  again.leave()
})

test('events are for whoever may see the page, and not for tokens', async () => {
  expect((await follow(events, {}).reply).status).toBe(404)
  expect((await follow(events, { 'Private-Token': 'x'.repeat(20) }).reply).status).toBe(404)
  expect((await follow(events.replace('/1/', '/99/')).reply).status).toBe(404)
})

test('one user follows no more than twenty pages at a time', async () => {
  const open = Array.from({ length: 21 }, () => follow())
  const statuses = (await Promise.all(open.map(({ reply }) => reply))).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  for (const { leave } of open) leave()
})

test('a server that stops waits for nobody who follows', async () => {
  const { reply } = follow()
  const response = await reply
  const end = readUntil(response, 'never said').catch(() => 'cut off')
  const started = performance.now()
  await world.close()
  expect(performance.now() - started).toBeLessThan(10_000)
  await end
})
