import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let bench: Bench

beforeAll(async () => {
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 30)
})

describe('a pattern for titles', () => {
  test('is refused when it is none or too large, by its name', async () => {
    for (const regex of ['(', 'a{1000}'.repeat(36)]) {
      const reply = await ana.put(`/projects/${bench.project.id}`, {
        merge_request_title_regex: regex,
      })
      expect([reply.status, reply.body.error]).toEqual([
        400,
        expect.stringMatching(/^merge_request_title_regex is (an invalid|too large)/),
      ])
    }
  })

  test('decides about each title of a list, again when title or pattern change', async () => {
    const bench = await openBench(world, ana)
    const project = `/projects/${bench.project.id}`
    bench.commit('one', { 'one.txt': 'a\n' })
    const { iid } = (await bench.open('one', { title: 'feat: one' })).body
    const status = async () => {
      const { body } = await ana.get(bench.api)
      return body[0].detailed_merge_status
    }
    await ana.put(project, { merge_request_title_regex: '^(feat|fix): .{1,200}$' })
    expect(await status()).not.toBe('title_regex')
    await ana.put(`${bench.api}/${iid}`, { title: 'one' })
    expect(await status()).toBe('title_regex')
    // So large that a worker compares it.
    await ana.put(project, { merge_request_title_regex: `^(x{900}|one)$` })
    expect(await status()).not.toBe('title_regex')
    await ana.put(`${bench.api}/${iid}`, { title: 'two' })
    expect(await status()).toBe('title_regex')
  })
})

describe('labels', () => {
  test('are a hundred in one request', async () => {
    const labels = Array.from({ length: 101 }, (_, at) => `bulk-${at}`).join(',')
    const body = { source_branch: 'main', target_branch: 'other', title: 'x', labels }
    const reply = await ana.post(bench.api, body)
    expect([reply.status, reply.body]).toEqual([400, { error: 'labels is invalid' }])
  })
})

describe('a merge request', () => {
  test.each(['', '/commits', '/versions', '/diffs', '/changes', '/raw_diffs'])(
    'shows its diff in the very next call, of %j',
    async (rest) => {
      const bench = await openBench(world, ana)
      const branch = `next${rest.replace('/', '-')}`
      const head = bench.commit(branch, { [`${branch}.txt`]: 'a\n' })
      const body = { source_branch: branch, target_branch: 'main', title: branch }
      const { iid } = (await ana.post(bench.api, body)).body
      const reply = await ana.get(`${bench.api}/${iid}${rest}`)
      expect(reply.status).toBe(200)
      expect(JSON.stringify(reply.body)).toMatch(new RegExp(`${head}|${branch}.txt`))
      if (rest === '') {
        expect(reply.body).toMatchObject({ diff_refs: { head_sha: head }, changes_count: '1' })
        expect(reply.body.detailed_merge_status).not.toBe('preparing')
      }
      await world.runTasks()
      expect((await ana.get(`${bench.api}/${iid}/versions`)).body).toHaveLength(1)
    },
  )

  test('shows the diff of a later commit in the very next call, by whoever made it', async () => {
    const bench = await openBench(world, ana)
    await addMember(world, bench.project.id, ben.id, 30)
    bench.commit('later', { 'later.txt': 'a\n' })
    const body = { source_branch: 'later', target_branch: 'main', title: 'later' }
    const at = `${bench.api}/${(await ana.post(bench.api, body)).body.iid}`
    await world.runTasks()
    const actions = [{ action: 'create', file_path: 'second.txt', content: 'b\n' }]
    const commit = { branch: 'later', commit_message: 'second', actions }
    const { id } = (await ben.post(`/projects/${bench.project.id}/repository/commits`, commit)).body
    const shown = (await ana.get(at)).body
    expect(shown).toMatchObject({ sha: id, diff_refs: { head_sha: id }, changes_count: '2' })
    await world.runTasks()
    expect((await ana.get(`${at}/versions`)).body).toHaveLength(2)
    const added = (await ana.get(`${at}/notes`)).body.filter((note: { body: string }) =>
      note.body.startsWith('added 1 commit'),
    )
    expect(added).toMatchObject([{ author: { id: ben.id } }])
  })

  test('is prepared in the background, with a first version and its diff', async () => {
    const head = bench.commit('one', { 'a.txt': 'a\n', 'go.sum': 'b\n' })
    const created = await ana.post(bench.api, {
      source_branch: 'one',
      target_branch: 'main',
      title: 'Draft: one',
      description: '- [x] done\n- [ ] open',
      labels: 'bug,help',
      assignee_ids: [ben.id],
      reviewer_ids: [ben.id],
    })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      state: 'opened',
      draft: true,
      merge_status: 'checking',
      detailed_merge_status: 'preparing',
      diff_refs: null,
      sha: head,
      labels: ['bug', 'help'],
      task_completion_status: { count: 2, completed_count: 1 },
      references: { short: '!1', relative: '!1', full: `${bench.project.fullPath}!1` },
    })
    expect(created.body.assignee.username).toBe('ben')
    expect(created.body.reviewers[0].username).toBe('ben')
    const { body } = await bench.read(created.body.iid)
    expect(body).toMatchObject({
      detailed_merge_status: 'draft_status',
      merge_status: 'can_be_merged',
      changes_count: '2',
      diff_refs: { head_sha: head },
      user: { can_merge: true },
    })
    expect(bench.project.git('rev-parse', `refs/merge-requests/${body.iid}/head`)).toBe(head)
    const versions = await ana.get(`${bench.api}/${body.iid}/versions`)
    expect(versions.body).toMatchObject([{ head_commit_sha: head, real_size: '2' }])
    expect(versions.body[0].patch_id_sha).toMatch(/^[0-9a-f]{40}$/)
    const version = await ana.get(`${bench.api}/${body.iid}/versions/${versions.body[0].id}`)
    expect(version.body.commits[0].id).toBe(head)
    const diffs = await ana.get(`${bench.api}/${body.iid}/diffs`)
    expect(diffs.body).toMatchObject([
      { new_path: 'a.txt', new_file: true, generated_file: false, diff: '@@ -0,0 +1 @@\n+a\n' },
      { new_path: 'go.sum', new_file: true, generated_file: true, diff: '@@ -0,0 +1 @@\n+b\n' },
    ])
    const changes = await ana.get(`${bench.api}/${body.iid}/changes`)
    expect(changes.body).toMatchObject({ overflow: false, changes: diffs.body, iid: body.iid })
    const commits = await ana.get(`${bench.api}/${body.iid}/commits`)
    expect(commits.body.map((commit: { id: string }) => commit.id)).toEqual([head])
    const raw = await ana.get(`${bench.api}/${body.iid}/raw_diffs`)
    expect(raw.body).toContain('diff --git a/a.txt b/a.txt')
    const of = await ana.get(
      `/projects/${bench.project.id}/repository/commits/${head}/merge_requests`,
    )
    expect(of.body.map((one: { iid: number }) => one.iid)).toEqual([body.iid])
  })

  test('is refused between the same branches, twice, and from branches that do not exist', async () => {
    bench.commit('two', { 'b.txt': 'b\n' })
    const ask = (body: object) => ana.post(bench.api, { title: 'two', ...body })
    expect((await ask({ source_branch: 'two' })).body).toEqual({
      error: 'target_branch is missing',
    })
    expect((await ask({ source_branch: 'main', target_branch: 'main' })).status).toBe(422)
    const missing = await ask({ source_branch: 'nowhere', target_branch: 'main' })
    expect(missing.status).toBe(400)
    expect(JSON.stringify(missing.body)).toMatch(/source_branch.*does not exist/)
    expect((await ask({ source_branch: 'two', target_branch: 'nowhere' })).status).toBe(400)
    const first = await ask({ source_branch: 'two', target_branch: 'main' })
    const again = await ask({ source_branch: 'two', target_branch: 'main' })
    expect([again.status, again.body]).toEqual([
      409,
      {
        message: [
          `Another open merge request already exists for this source branch: !${first.body.iid}`,
        ],
      },
    ])
  })

  test('is changed, closed and opened again, each with its system note', async () => {
    bench.commit('three', { 'c.txt': 'c\n' })
    const { body: opened } = await bench.open('three')
    const at = `${bench.api}/${opened.iid}`
    const changed = await ben.put(at, { title: 'Draft: other', add_labels: ['x'], squash: true })
    expect(changed.body).toMatchObject({
      title: 'Draft: other',
      draft: true,
      labels: ['x'],
      squash: true,
    })
    const closed = await ben.put(at, { state_event: 'close' })
    expect(closed.body).toMatchObject({ state: 'closed', closed_by: { username: 'ben' } })
    expect((await ben.put(at, { state_event: 'reopen' })).body.state).toBe('opened')
    expect((await ben.put(at, {})).status).toBe(400)
    const notes = await ana.get(`${at}/notes?sort=asc`)
    expect(notes.body.map((note: { body: string }) => note.body)).toEqual([
      'marked this merge request as **draft**',
      'changed title from **{-Take-} {-three-}** to **{+Draft:+} {+other+}**',
      'closed',
      'reopened',
    ])
    const stranger = await world.user('stranger')
    expect((await stranger.put(at, { title: 'mine' })).status).toBe(404)
    expect((await ben.delete(at)).status).toBe(403)
    expect((await ana.delete(at)).status).toBe(204)
    expect((await ana.get(at)).status).toBe(404)
  })

  test('keeps its participants, subscribers, time and to-dos', async () => {
    bench.commit('four', { 'd.txt': 'd\n' })
    const { body: opened } = await bench.open('four')
    const at = `${bench.api}/${opened.iid}`
    expect((await ben.post(`${at}/notes`, { body: 'hello' })).status).toBe(201)
    const people = await ana.get(`${at}/participants`)
    expect(people.body.map((one: { username: string }) => one.username)).toEqual(['ana', 'ben'])
    expect((await ana.post(`${at}/subscribe`)).status).toBe(304)
    expect((await ana.post(`${at}/unsubscribe`)).body.subscribed).toBe(false)
    expect((await ana.post(`${at}/todo`)).status).toBe(201)
    expect((await ana.post(`${at}/todo`)).status).toBe(304)
    const spent = await ana.post(`${at}/add_spent_time`, { duration: '2h' })
    expect(spent.body.total_time_spent).toBe(7200)
    expect((await ana.get(at)).body.time_stats.human_total_time_spent).toBe('2h')
  })
})

describe('lists of merge requests', () => {
  test('are filtered by state, people, labels, branches, drafts and texts', async () => {
    const own = await openBench(world, ana)
    await addMember(world, own.project.id, ben.id, 30)
    own.commit('x', { x: 'x' })
    own.commit('y', { y: 'y' })
    await own.open('x', { labels: 'red', title: 'Find the needle' })
    await own.open('y', { assignee_id: ben.id, reviewer_ids: [ben.id], title: 'Draft: y' }, ben)
    const iids = async (query: string, caller = ana) => {
      const reply = await caller.get(`${own.api}?${query}`)
      expect(reply.status).toBe(200)
      return reply.body.map((one: { iid: number }) => one.iid)
    }
    expect(await iids('')).toEqual([2, 1])
    expect(await iids('sort=asc')).toEqual([1, 2])
    expect(await iids('state=merged')).toEqual([])
    expect(await iids('labels=red')).toEqual([1])
    expect(await iids('not[labels]=red')).toEqual([2])
    expect(await iids('labels=None')).toEqual([2])
    expect(await iids('search=NEEDLE')).toEqual([1])
    expect(await iids('wip=yes')).toEqual([2])
    expect(await iids('draft=false')).toEqual([1])
    expect(await iids('source_branch=x')).toEqual([1])
    expect(await iids('author_username=ben')).toEqual([2])
    expect(await iids('not[author_username]=ben')).toEqual([1])
    expect(await iids(`assignee_id=${ben.id}`)).toEqual([2])
    expect(await iids('assignee_id=None')).toEqual([1])
    expect(await iids('reviewer_username=ben')).toEqual([2])
    expect(await iids('scope=assigned_to_me', ben)).toEqual([2])
    expect(await iids('scope=reviews_for_me', ben)).toEqual([2])
    expect(await iids('iids[]=1')).toEqual([1])
    expect(await iids('approved=yes')).toEqual([])
    expect(await iids('milestone=None')).toEqual([2, 1])
    for (const order of [
      'updated_at',
      'merged_at',
      'title',
      'priority',
      'label_priority',
      'popularity',
    ]) {
      expect((await iids(`order_by=${order}`)).length).toBe(2)
    }
    const mine = await ben.get('/merge_requests')
    expect(mine.body.map((one: { title: string }) => one.title)).toEqual(['Draft: y'])
    expect(mine.body[0].references.relative).toBe(`${own.project.fullPath}!2`)
    expect((await world.nobody.get('/merge_requests')).status).toBe(401)
    expect((await world.nobody.get('/merge_requests?scope=all')).body).toEqual([])
    const brief = await ana.get(`${own.api}?view=simple`)
    expect(Object.keys(brief.body[0])).toHaveLength(9)
  })
})
