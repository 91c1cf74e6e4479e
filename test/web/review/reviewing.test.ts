import { beforeAll, describe, expect, test } from 'vitest'
import { Browser, type Shown } from '../../support/browser.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let bench: Bench
let author: Browser
let reviewer: Browser
let stranger: Browser
let address: string
let api: string

async function signedIn(name: string): Promise<Browser> {
  const browser = new Browser(world.url)
  expect((await browser.signIn(name, PASSWORD)).status).toBe(303)
  return browser
}

/** The form of a page that is sent to an address. */
function formTo(page: Shown, action: string): Shown {
  const start = page.text.lastIndexOf('<form', page.text.indexOf(`action="${action}"`))
  expect(page.text).toContain(`action="${action}"`)
  return { ...page, text: page.text.slice(start, page.text.indexOf('</form>', start)) }
}

interface Thread {
  readonly id: string
  readonly notes: readonly { readonly body: string; readonly [name: string]: unknown }[]
}

async function threads(): Promise<Thread[]> {
  const { body } = await ana.get(`${api}/discussions?per_page=100`)
  return body.filter(({ notes }: { notes: { system: boolean }[] }) => !notes[0]?.system)
}

beforeAll(async () => {
  const eve = await world.user('eve')
  for (const { id } of [ana, ben, eve]) {
    await givePassword(world, id)
  }
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
  await ana.put(`/projects/${bench.project.id}`, { visibility: 'public' })
  bench.commit('topic', {
    'README.md': 'one\n2\nthree\n',
    'docs/guide/a b.md': 'x\ny\nz\n',
    'yarn.lock': 'lock\n',
    'logo.png': Buffer.from([137, 80, 78, 71, 0, 1]),
    [`src/${'<b>'}.ts`]: 'const a = 1\n',
  })
  const opened = await bench.open('topic', { reviewer_ids: [ben.id] })
  address = `/${bench.project.fullPath}/-/merge_requests/${opened.body.iid}`
  api = `${bench.api}/${opened.body.iid}`
  author = await signedIn('ana')
  reviewer = await signedIn('ben')
  stranger = await signedIn('eve')
})

describe('the changes of a merge request', () => {
  test('are a tree with counts, and files with their lines, generated ones folded', async () => {
    const { status, text } = await new Browser(world.url).get(`${address}/diffs`)
    expect(status).toBe(200)
    expect(text).toContain('0 of 5 viewed')
    expect(text).toContain('docs/guide/')
    expect(text).not.toContain('<b>')
    // A binary file has no lines, and a picture is shown.
    expect(text).toContain('>Binary files')
    expect(text).toMatch(/<img src="[^"]*\/raw\/[0-9a-f]+\/logo\.png"/)
    expect(text).toMatch(/yarn\.lock[\s\S]*generated/)
    expect(text).toContain(`data-load="${address}/diffs/file?file=yarn.lock&amp;part=body"`)
    const body = await author.get(`${address}/diffs/file?file=yarn.lock&part=body`)
    expect(body.text).toContain('lock')
    const split = await author.get(`${address}/diffs?view=split`)
    expect(split.text).toContain('diff split')
    // The layout is kept.
    expect((await author.get(`${address}/diffs`)).text).toContain('diff split')
    await author.get(`${address}/diffs?view=unified`)
    const one = await author.get(`${address}/diffs?file=README.md&w=true`)
    expect([one.status, one.text.split('class="box diff-file"').length]).toEqual([200, 2])
  })

  test('take a comment on one line, on several and on a file', async () => {
    const page = await reviewer.get(`${address}/diffs`)
    const line = `${address}/comments/-2/README.md`
    expect(page.text).toContain(`href="${line}"`)
    const form = await reviewer.get(line)
    expect(form.text).toContain('name="head_sha"')
    const sent = await reviewer.submit(formTo(form, line), line, { body: `why? ${hostile}` })
    expect(sent.status).toBe(303)
    const several = `${address}/comments/-3/docs/guide/a%20b.md`
    const range = formTo(await reviewer.get(several), several)
    const [, from = ''] = /<option value="([^"]*_1_new)"/.exec(range.text) ?? []
    await reviewer.submit(range, several, { body: 'both', from })
    const file = `${address}/comments/file/docs/guide/a%20b.md`
    await reviewer.submit(formTo(await reviewer.get(file), file), file, { body: 'the whole' })
    const [first, second, third] = await threads()
    expect(first?.notes[0]?.position).toMatchObject({ new_path: 'README.md', new_line: 2 })
    expect(second?.notes[0]?.position).toMatchObject({
      new_line: 3,
      line_range: { start: { new_line: 1, type: 'new' }, end: { new_line: 3 } },
    })
    expect(third?.notes[0]?.position).toMatchObject({ position_type: 'file' })
    const shown = await author.get(`${address}/diffs`)
    expect(shown.text).toContain('why?')
    expect(shown.text).not.toContain('<script>alert')
    expect((await stranger.get(`${address}/comments/-99/README.md`)).status).toBe(404)
  })

  test('show a refused comment again with what was typed, and take none without the token', async () => {
    const line = `${address}/comments/-2/README.md`
    const form = formTo(await reviewer.get(line), line)
    const refused = await reviewer.submit(form, line, {
      body: 'kept text',
      head_sha: 'f'.repeat(40),
    })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('kept text')
    expect((await reviewer.post(line, { body: 'no token' })).status).toBe(422)
    expect(await threads()).toHaveLength(3)
  })

  test('are marked as viewed, and show what changed since', async () => {
    const viewed = async (browser: Browser, path: string, value: string) =>
      browser.submit(
        formTo(await browser.get(`${address}/diffs?file=${path}`), `${address}/viewed`),
        `${address}/viewed`,
        { path, viewed: value },
      )
    expect((await viewed(reviewer, 'README.md', 'true')).status).toBe(303)
    expect((await reviewer.get(`${address}/diffs`)).text).toContain('1 of 5 viewed')
    expect((await author.get(`${address}/diffs`)).text).toContain('0 of 5 viewed')
    await viewed(reviewer, 'README.md', 'false')
    expect((await reviewer.get(`${address}/diffs`)).text).toContain('0 of 5 viewed')
    await viewed(reviewer, 'README.md', 'true')
  })
})

describe('a review', () => {
  test('keeps drafts that nobody else sees, shows their suggestions, and sends them with a verdict', async () => {
    const line = `${address}/comments/-2/README.md`
    const form = formTo(await reviewer.get(line), line)
    await reviewer.submit(form, line, { body: 'better', suggestion: 'two!', keep: 'draft' })
    expect((await author.get(`${address}/diffs`)).text).not.toContain('better')
    const own = await reviewer.get(`${address}/diffs?file=README.md`)
    expect(own.text).toMatch(/better[\s\S]*data-sign="−"><code>2<[\s\S]*data-sign="\+"><code>two!</)
    const [draft] = (await ben.get(`${api}/draft_notes`)).body
    const update = `${address}/drafts/${draft.id}/update`
    await reviewer.submit(formTo(own, update), update, {
      note: draft.note.replace('better', 'best'),
    })
    const review = `${address}/review`
    await reviewer.submit(formTo(own, review), review, {
      summary: 'Please look',
      verdict: 'request_changes',
    })
    const bodies = (await threads()).map(({ notes }) => notes[0]?.body)
    expect(bodies).toContain('Please look')
    expect(bodies.at(3)).toMatch(/^best\n\n```suggestion:-0\+0\ntwo!\n```$/)
    const [{ state }] = (await ana.get(`${api}/reviewers`)).body
    expect(state).toBe('requested_changes')
  })

  test('has its suggestions applied in a batch by whoever may push, and outdates what it changes', async () => {
    const several = `${address}/comments/-1/docs/guide/a%20b.md`
    const form = formTo(await reviewer.get(several), several)
    await reviewer.submit(form, several, { body: '', suggestion: 'X' })
    const page = await author.get(`${address}/diffs`)
    expect(page.text).toContain('Apply the marked suggestions')
    expect((await stranger.get(`${address}/diffs`)).text).not.toContain('Apply the suggestion')
    const ids = [...page.text.matchAll(/name="ids\[\]" value="(\d+)"/g)].map(([, id = '']) => id)
    expect(ids).toHaveLength(2)
    const apply = `${address}/suggestions/apply`
    const batch = formTo(page, apply)
    const done = await author.submit(batch, apply, { ids: ids.join(',') })
    expect(done.status).toBe(303)
    await bench.read(Number(address.split('/').at(-1)))
    expect(git(bench.project.path, ['show', 'topic:README.md'])).toBe('one\ntwo!\nthree')
    const after = await reviewer.get(`${address}/diffs`)
    expect(after.text).toContain('outdated: version 1')
    expect(after.text).toContain('changed since you viewed it')
    const since =
      /href="([^"]*since=\d+[^"]*)"/.exec(after.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const change = await reviewer.get(since)
    expect(change.text).toContain('Commit by commit')
    const range =
      /href="([^"]*range_diff[^"]*)"/.exec(change.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect((await reviewer.get(range)).text).toMatch(/&gt;|>/)
    expect((await reviewer.get(range)).status).toBe(200)
  })

  test('approves together with its comments', async () => {
    const page = await reviewer.get(`${address}/diffs`)
    const review = `${address}/review`
    await reviewer.submit(formTo(page, review), review, { summary: 'Fine', verdict: 'approve' })
    expect((await threads()).map(({ notes }) => notes[0]?.body)).toContain('Fine')
    const { body } = await ben.get(`${api}/approvals`)
    expect(body.user_has_approved).toBe(true)
  })
})
