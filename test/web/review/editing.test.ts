import { beforeAll, expect, test } from 'vitest'
import { Browser, type Shown } from '../../support/browser.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let bench: Bench
let owner: Browser
let stranger: Browser
let list: string

/** The form of a page that is sent to an address. */
function formTo(page: Shown, action: string): Shown {
  const start = page.text.lastIndexOf('<form', page.text.indexOf(`action="${action}"`))
  expect(page.text).toContain(`action="${action}"`)
  return { ...page, text: page.text.slice(start, page.text.indexOf('</form>', start)) }
}

beforeAll(async () => {
  const eve = await world.user('eve')
  for (const { id } of [ana, eve]) await givePassword(world, id)
  bench = await openBench(world, ana, { visibility: 'public' })
  await ana.put(`/projects/${bench.project.id}`, { visibility: 'public' })
  await addMember(world, bench.project.id, ben.id, 30)
  await ana.post(`/projects/${bench.project.id}/labels`, { name: 'bug', color: 'red' })
  await ana.post(`/projects/${bench.project.id}/milestones`, { title: 'first' })
  bench.commit('topic', { 'README.md': 'one\n2\nthree\n' })
  owner = new Browser(world.url)
  stranger = new Browser(world.url)
  await owner.signIn('ana', PASSWORD)
  await stranger.signIn('eve', PASSWORD)
  list = `/${bench.project.fullPath}/-/merge_requests`
})

test('a merge request is opened with people, labels and a milestone, edited, and shows both', async () => {
  const page = await owner.get(`${list}/new?merge_request%5Bsource_branch%5D=topic`)
  const [, milestone = ''] = /<option value="(\d+)">first/.exec(page.text) ?? []
  const typed = {
    source_branch: 'topic',
    target_branch: 'main',
    title: 'Take it',
    'reviewer_ids[]': String(ben.id),
    labels: 'bug, new one',
    milestone_id: milestone,
    squash: 'true',
  }
  const opened = await owner.submit(formTo(page, `${list}/new`), `${list}/new`, typed)
  const address = opened.location ?? ''
  const api = `${bench.api}/${address.split('/').at(-1)}`
  const made = (await ana.get(api)).body
  expect(made).toMatchObject({
    squash: true,
    labels: ['bug', 'new one'],
    milestone: { title: 'first' },
  })
  expect(made.reviewers.map(({ id }: { id: number }) => id)).toEqual([ben.id])
  const edit = await owner.get(`${address}/edit`)
  expect(edit.text).toContain(`<option value="${ben.id}" selected>`)
  const form = formTo(edit, `${address}/edit`)
  const refused = await owner.submit(form, `${address}/edit`, { title: '', target_branch: 'main' })
  expect(refused.status).toBeGreaterThanOrEqual(400)
  await owner.submit(form, `${address}/edit`, {
    title: 'Take it all',
    description: '**much**',
    labels: '',
    milestone_id: '',
    target_branch: 'main',
  })
  expect((await ana.get(api)).body).toMatchObject({
    title: 'Take it all',
    labels: [],
    reviewers: [],
    milestone: null,
    squash: false,
  })
  expect((await owner.get(address)).text).toContain('<strong>much</strong>')
  expect((await stranger.get(address)).text).not.toContain(`${address}/edit`)
  await stranger.submit(await stranger.get(address), `${address}/edit`, { title: 'mine' })
  expect((await ana.get(api)).body.title).toBe('Take it all')
  expect((await owner.get(`${address}/pipelines`)).text).toContain('No pipelines')
})

test('a merged one is reverted on a branch of its own', async () => {
  const { body } = await bench.read(1)
  await ana.put(`${bench.api}/1/merge`, { sha: body.sha })
  await world.runTasks()
  const address = `${list}/1`
  const page = await owner.get(address)
  expect((await stranger.get(address)).text).not.toContain(`${address}/revert`)
  const reverted = await owner.submit(formTo(page, `${address}/revert`), `${address}/revert`, {})
  expect(reverted.location).toMatch(/\/new\?merge_request%5Bsource_branch%5D=revert-/)
  const [, branch = ''] = /source_branch%5D=([^&]+)/.exec(reverted.location ?? '') ?? []
  expect(git(bench.project.path, ['show', `${branch}:README.md`])).toBe('one\ntwo\nthree')
})

test('conflicts come with the commands that resolve them', async () => {
  bench.commit('other', { 'README.md': 'ONE\n2\nthree\n' }, 'main~1')
  bench.commit('main', { 'README.md': 'uno\n2\nthree\n' })
  const { body } = await bench.open('other')
  const page = await owner.get(`${list}/${body.iid}`)
  expect(page.text).toContain('It conflicts with main.')
  expect(page.text).toContain('git merge origin/main')
})
