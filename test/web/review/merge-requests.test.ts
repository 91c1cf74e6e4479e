import { beforeAll, describe, expect, test } from 'vitest'
import { Browser, type Shown } from '../../support/browser.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

const world = useWorld()
const ana = useCaller(world, 'ana')
let bench: Bench
let owner: Browser
let stranger: Browser
let list: string

async function signedIn(name: string): Promise<Browser> {
  const browser = new Browser(world.url)
  expect((await browser.signIn(name, PASSWORD)).status).toBe(303)
  return browser
}

/** The one form of a page that has the button. */
function formWith(page: Shown, button: string): Shown {
  const end = page.text.indexOf(`>${button}</button>`)
  expect(end).toBeGreaterThan(0)
  return { ...page, text: page.text.slice(page.text.lastIndexOf('<form', end), end) }
}

beforeAll(async () => {
  const eve = await world.user('eve')
  for (const { id } of [ana, eve]) await givePassword(world, id)
  bench = await openBench(world, ana)
  await ana.put(`/projects/${bench.project.id}`, { visibility: 'public' })
  bench.commit('feature', { 'README.md': 'one\ntwo more\nthree\n', 'docs/new.md': '<b>new</b>\n' })
  owner = await signedIn('ana')
  stranger = await signedIn('eve')
  list = `/${bench.project.fullPath}/-/merge_requests`
})

describe('a merge request', () => {
  let address: string
  let iid: number

  test('is opened by the form that a push names, which keeps what was typed', async () => {
    const form = await owner.get(`${list}/new?merge_request%5Bsource_branch%5D=feature`)
    expect(form.text).toContain('name="source_branch" aria-invalid="false" value="feature"')
    const typed = { source_branch: 'feature', target_branch: 'none', title: hostile }
    const refused = await owner.submit(form, `${list}/new`, typed)
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.text).toContain('value="none"')
    expect(refused.text).not.toContain('<script>alert')
    const opened = await owner.submit(form, `${list}/new`, { ...typed, target_branch: 'main' })
    expect(opened.status).toBe(303)
    address = opened.location ?? ''
    iid = Number(address.split('/').at(-1))
    expect(address).toBe(`${list}/${iid}`)
    await bench.read(iid)
  })

  test('stands in the list under its filters, escaped', async () => {
    const found = await new Browser(world.url).get(`${list}?state=opened&search=img`)
    expect(found.text).toContain(`href="${address}"`)
    expect(found.text).not.toContain('<img src=x')
    const anonymous = await new Browser(world.url).get(address)
    expect([anonymous.status, anonymous.text.includes('Sign in to read')]).toEqual([200, true])
    const none = await owner.get(`${list}?state=closed`)
    expect(none.text).toContain('No merge requests found')
  })

  test('shows its changes unified and side by side, and its commits', async () => {
    for (const view of ['unified', 'split']) {
      const { status, text } = await owner.get(`${address}/diffs?view=${view}`)
      expect(status).toBe(200)
      expect(text).toContain('<mark> more</mark>')
      expect(text).toContain('&lt;b&gt;new&lt;/b&gt;')
    }
    expect((await owner.get(`${address}/commits`)).text).toContain('Change feature')
  })

  test('says why it cannot be merged, with the button of whoever can clear it', async () => {
    await ana.put(`${bench.api}/${iid}`, { title: 'Draft: Take it' })
    const mine = await owner.get(address)
    expect(mine.text).toContain('It is a draft.')
    expect(mine.text).toContain('Mark as ready')
    const theirs = await stranger.get(address)
    expect(theirs.text).toContain('It is a draft.')
    expect(theirs.text).not.toContain('Mark as ready')
    expect(theirs.text).not.toContain(`action="${address}/merge"`)
    const ready = await owner.submit(formWith(mine, 'Mark as ready'), `${address}/update`, {})
    expect(ready.location).toBe(address)
    expect((await ana.get(`${bench.api}/${iid}`)).body.draft).toBe(false)
  })

  test('takes comments and replies, and resolves threads', async () => {
    const page = await stranger.get(address)
    await stranger.submit(page, `${address}/discussions`, { body: `**well** ${hostile}` })
    const [thread] = (await ana.get(`${bench.api}/${iid}/discussions`)).body.filter(
      (one: { notes: { system: boolean }[] }) => !one.notes[0]?.system,
    )
    const commented = await owner.get(address)
    expect(commented.text).toContain('<strong>well</strong>')
    expect(commented.text).not.toContain('<script>alert')
    const own = `${address}/discussions/${thread.id}`
    await owner.submit(commented, `${own}/reply`, { body: 'so it is' })
    expect((await owner.get(address)).text).toContain('so it is')
    await owner.submit(commented, `${own}/resolve`, { resolved: 'true' })
    const { body } = await ana.get(`${bench.api}/${iid}/discussions/${thread.id}`)
    expect(body.notes[0].resolved).toBe(true)
  })

  test('changes by no form without its token, and by nobody who may not', async () => {
    const close = { state_event: 'close' }
    expect((await owner.post(`${address}/update`, close)).status).toBe(422)
    const page = await stranger.get(address)
    await stranger.submit(page, `${address}/update`, close)
    await stranger.submit(page, `${address}/merge`, {})
    expect((await ana.get(`${bench.api}/${iid}`)).body.state).toBe('opened')
  })

  test('is closed, reopened and merged', async () => {
    const page = await owner.get(address)
    await owner.submit(formWith(page, 'Close'), `${address}/update`, {})
    const closed = await owner.get(address)
    await owner.submit(formWith(closed, 'Reopen'), `${address}/update`, {})
    await bench.read(iid)
    const ready = await owner.get(address)
    expect(ready.text).toContain('Nothing stands in the way')
    await owner.submit(formWith(ready, 'Merge'), `${address}/merge`, {})
    await world.runTasks()
    expect((await ana.get(`${bench.api}/${iid}`)).body.state).toBe('merged')
    expect((await owner.get(address)).text).toContain('Merged')
  })

  test('of a private project is nobody else’s', async () => {
    await ana.put(`/projects/${bench.project.id}`, { visibility: 'private' })
    for (const path of [address, list, `${address}/diffs`, `${address}/commits`]) {
      expect((await stranger.get(path)).status).toBe(404)
    }
  })
})
