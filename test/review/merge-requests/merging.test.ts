import { describe, expect, test } from 'vitest'
import { actAs } from '../../../src/access/act-as.ts'
import { getVisibleProject } from '../../../src/access/subjects.ts'
import { recoverPushes } from '../../../src/repositories/refs/journal/recover.ts'
import { mergeNow } from '../../../src/review/merge-requests/merge/merge.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

const at = (bench: Bench, iid = 1) => `${bench.api}/${iid}`
const tip = (bench: Bench, ref = 'main') => bench.project.git('rev-parse', ref)
const files = (bench: Bench, ref = 'main') =>
  bench.project.git('ls-tree', '-r', '--name-only', ref).split('\n')
const refs = (bench: Bench) =>
  bench.project.git('for-each-ref', '--format=%(refname)', 'refs/heads').split('\n')

/** The tree that git's own merge of two commits makes. */
const treeOfGit = (bench: Bench, ours: string, theirs: string) =>
  bench.project.git('merge-tree', '--write-tree', ours, theirs)

async function diverged(settings: Readonly<Record<string, unknown>> = {}): Promise<Bench> {
  const bench = await openBench(world, ana, settings)
  bench.commit('topic', { 'a.txt': 'a\n' })
  bench.commit('topic', { 'b.txt': 'b\n' })
  bench.commit('main', { 'c.txt': 'c\n' })
  return bench
}

describe('a merge', () => {
  test('by merge commit has both parents, the tree that git makes, and the documented message', async () => {
    const bench = await diverged()
    const issue = await ana.post(`/projects/${bench.project.id}/issues`, { title: 'Broken' })
    expect(issue.status).toBe(201)
    await bench.open('topic', { title: 'Mend it', description: 'Closes #1' })
    const [ours, theirs] = [tip(bench), tip(bench, 'topic')]
    const closes = await ana.get(`${at(bench)}/closes_issues`)
    expect(closes.body.map((one: { iid: number }) => one.iid)).toEqual([1])
    const wrong = await ana.put(`${at(bench)}/merge`, { sha: ours })
    expect([wrong.status, wrong.body]).toEqual([
      409,
      { message: `SHA does not match HEAD of source branch: ${theirs}` },
    ])
    const merged = await ana.put(`${at(bench)}/merge`, {
      sha: theirs,
      should_remove_source_branch: true,
    })
    expect(merged.status).toBe(200)
    const commit = tip(bench)
    expect(merged.body).toMatchObject({
      state: 'merged',
      merge_commit_sha: commit,
      squash_commit_sha: null,
      merge_user: { username: 'ana' },
      merged_by: { username: 'ana' },
      detailed_merge_status: 'not_open',
      should_remove_source_branch: true,
    })
    expect(bench.project.git('show', '-s', '--format=%P|%T|%an|%ae', commit)).toBe(
      `${ours} ${theirs}|${treeOfGit(bench, ours, theirs)}|ana|ana@example.com`,
    )
    expect(bench.project.git('show', '-s', '--format=%B', commit).trim()).toBe(
      `Merge branch 'topic' into 'main'\n\nMend it\n\nCloses #1\n\nSee merge request ${bench.project.fullPath}!1`,
    )
    await world.runTasks()
    expect(refs(bench)).toEqual(['refs/heads/main'])
    const closed = await ana.get(`/projects/${bench.project.id}/issues/1`)
    expect(closed.body.state).toBe('closed')
    const by = await ana.get(`/projects/${bench.project.id}/issues/1/closed_by`)
    expect(by.body.map((one: { iid: number }) => one.iid)).toEqual([1])
    const related = await ana.get(`/projects/${bench.project.id}/issues/1/related_merge_requests`)
    expect(related.body).toHaveLength(1)
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(405)
    const notes = await ana.get(`${at(bench)}/notes`)
    const texts = notes.body.map((note: { body: string }) => note.body)
    expect(texts.slice(0, 2)).toEqual([`mentioned in commit ${commit}`, 'merged'])
  })

  test('may squash: one commit by the author, merged', async () => {
    const bench = await diverged({ merge_commit_template: '%{title} (%{local_reference})' })
    await addMember(world, bench.project.id, ben.id, 40)
    await bench.open('topic', { title: 'Both' }, ben)
    const [ours, theirs] = [tip(bench), tip(bench, 'topic')]
    const merged = await ana.put(`${at(bench)}/merge`, {
      squash: true,
      squash_commit_message: 'As one',
    })
    const { squash_commit_sha: squashed, merge_commit_sha: commit } = merged.body
    const base = bench.project.git('merge-base', ours, theirs)
    expect(bench.project.git('show', '-s', '--format=%P|%T|%an|%cn|%s', squashed)).toBe(
      `${base}|${bench.project.git('rev-parse', `${theirs}^{tree}`)}|ben|ana|As one`,
    )
    expect(bench.project.git('show', '-s', '--format=%P|%s', commit)).toBe(
      `${ours} ${squashed}|Both (!1)`,
    )
    expect(files(bench)).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt'])
  })

  test('by fast-forward needs a rebase first, which moves commits as git does', async () => {
    const bench = await diverged({ merge_method: 'ff' })
    const opened = await bench.open('topic')
    expect(opened.body.detailed_merge_status).toBe('need_rebase')
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(422)
    expect((await ana.put(`${at(bench)}/rebase`)).body).toEqual({ rebase_in_progress: true })
    const rebased = await bench.read(1)
    expect(rebased.body).toMatchObject({ detailed_merge_status: 'mergeable', merge_error: null })
    expect(bench.project.git('log', '--format=%an', 'main..topic').split('\n')).toHaveLength(2)
    expect(files(bench, 'topic')).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt'])
    const merged = await ana.put(`${at(bench)}/merge`)
    expect(merged.body).toMatchObject({ state: 'merged', merge_commit_sha: null })
    expect(tip(bench)).toBe(tip(bench, 'topic'))
  })

  test('that conflicts is refused, and a rebase that conflicts says so', async () => {
    const bench = await openBench(world, ana)
    bench.commit('topic', { 'README.md': 'ours\n' })
    bench.commit('main', { 'README.md': 'theirs\n' })
    const opened = await bench.open('topic')
    expect(opened.body).toMatchObject({
      detailed_merge_status: 'conflict',
      merge_status: 'cannot_be_merged',
      has_conflicts: true,
    })
    const refused = await ana.put(`${at(bench)}/merge`)
    expect([refused.status, refused.body]).toEqual([422, { message: 'Branch cannot be merged' }])
    expect((await ana.get(`${at(bench)}/merge_ref`)).status).toBe(400)
    await ana.put(`${at(bench)}/rebase`)
    expect((await bench.read(1)).body.merge_error).toMatch(/^Rebase failed/)
  })

  test.each([
    [
      'its source',
      async ({ project }: Bench) => {
        const actions = [{ action: 'create', file_path: 'b.md', content: 'more\n' }]
        const body = { branch: 'topic', commit_message: 'More', actions }
        expect((await ana.post(`${project.api}/commits`, body)).status).toBe(201)
      },
    ],
    [
      'its target',
      async (bench: Bench) => {
        bench.project.git('branch', 'old', 'main~1')
        await ana.put(at(bench), { target_branch: 'old' })
      },
    ],
  ])('says nothing of a failed rebase once %s is another', async (_what, change) => {
    const bench = await openBench(world, ana)
    bench.commit('topic', { 'README.md': 'ours\n' })
    bench.commit('main', { 'README.md': 'theirs\n' })
    await bench.open('topic')
    await ana.put(`${at(bench)}/rebase`)
    expect((await bench.read(1)).body.merge_error).toMatch(/^Rebase failed/)
    await change(bench)
    expect((await bench.read(1)).body.merge_error).toBeNull()
  })

  test('of drafts, closed ones and by those who may not push is refused', async () => {
    const bench = await diverged()
    await addMember(world, bench.project.id, ben.id, 20)
    await bench.open('topic', { title: 'Draft: x' })
    expect((await ben.put(`${at(bench)}/merge`)).status).toBe(401)
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(405)
    await ana.put(at(bench), { title: 'x', state_event: 'close' })
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(405)
  })

  test('asked for twice at once happens once', async () => {
    const bench = await diverged()
    await bench.open('topic')
    const answers = await Promise.all([1, 2, 3].map(() => ana.put(`${at(bench)}/merge`)))
    const statuses = answers.map((answer) => answer.status).sort()
    expect(statuses[0]).toBe(200)
    expect(statuses.slice(1).every((status) => status === 405 || status === 409)).toBe(true)
    expect(bench.project.git('rev-list', '--merges', '--count', 'main')).toBe('1')
  })

  test('of two merge requests into one branch at once keeps both', async () => {
    const bench = await openBench(world, ana)
    bench.commit('x', { x: 'x' })
    bench.commit('y', { y: 'y' })
    await bench.open('x')
    await bench.open('y')
    const answers = await Promise.all([1, 2].map((iid) => ana.put(`${at(bench, iid)}/merge`)))
    expect(answers.map((answer) => answer.status)).toEqual([200, 200])
    expect(files(bench)).toEqual(['README.md', 'x', 'y'])
    const states = await ana.get(`${bench.api}?state=merged`)
    expect(states.body).toHaveLength(2)
  })

  test('takes no commits that were pushed after the approvals that it needs', async () => {
    const bench = await diverged()
    await addMember(world, bench.project.id, ben.id, 30)
    await ana.post(`/projects/${bench.project.id}/approval_rules`, {
      name: 'Any',
      rule_type: 'any_approver',
      approvals_required: 1,
    })
    await bench.open('topic')
    expect((await ben.post(`${at(bench)}/approve`)).status).toBe(201)
    const before = tip(bench)
    // The branch of a push has moved, and what follows from that is not written yet.
    const head = bench.commit('topic', { 'unseen.txt': 'x\n' })
    const refused = await ana.put(`${at(bench)}/merge`)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining('SHA does not match HEAD of source branch'),
    ])
    expect(tip(bench)).toBe(before)
    expect(head).toBe(tip(bench, 'topic'))
  })

  test('ends when something comes in its way while its commits are made', async () => {
    const bench = await diverged()
    await bench.open('topic')
    const before = tip(bench)
    const ctx = await actAs(world.ctx, ana.id)
    const project = await getVisibleProject(ctx, String(bench.project.id))
    const { body } = await ana.get(at(bench))
    await ana.put(at(bench), { title: 'Draft: wait' })
    await expect(mergeNow(ctx, project, body.id, {})).rejects.toMatchObject({ status: 405 })
    expect(tip(bench)).toBe(before)
  })

  test.each(['before intent', 'after intent', 'after refs'] as const)(
    'that a crash interrupts %s is whole or not at all after the next start',
    async (step) => {
      const bench = await diverged()
      await bench.open('topic', { description: 'x' })
      const before = tip(bench)
      const ctx = await actAs(world.ctx, ana.id)
      const project = await getVisibleProject(ctx, String(bench.project.id))
      const { body } = await ana.get(at(bench))
      const crash = new Error('crash')
      const merge = mergeNow(ctx, project, body.id, { removeSourceBranch: true }, (reached) => {
        if (reached === step) throw crash
      })
      await expect(merge).rejects.toBe(crash)
      expect((await ana.get(at(bench))).body.state).toBe('opened')
      await recoverPushes(world.ctx)
      await world.runTasks()
      const after = await ana.get(at(bench))
      const whole = step === 'after refs'
      expect(after.body.state).toBe(whole ? 'merged' : 'opened')
      expect(tip(bench) === before).toBe(!whole)
      if (whole) {
        expect(after.body).toMatchObject({
          merge_commit_sha: tip(bench),
          merge_user: { username: 'ana' },
        })
        expect(refs(bench)).toEqual(['refs/heads/main'])
      } else {
        expect((await ana.put(`${at(bench)}/merge`)).status).toBe(200)
      }
    },
  )

  test('may wait until nothing stands in its way', async () => {
    const bench = await diverged()
    await addMember(world, bench.project.id, ben.id, 30)
    await ana.post(`/projects/${bench.project.id}/approval_rules`, {
      name: 'All',
      rule_type: 'any_approver',
      approvals_required: 1,
    })
    await bench.open('topic')
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(405)
    const waits = await ana.put(`${at(bench)}/merge`, { auto_merge: true })
    expect(waits.body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true })
    const cancel = `${at(bench)}/cancel_merge_when_pipeline_succeeds`
    expect((await ana.post(cancel)).body).toEqual({ status: 'success' })
    expect((await ana.post(cancel)).status).toBe(405)
    await ana.put(`${at(bench)}/merge`, { auto_merge: true })
    expect((await ben.post(`${at(bench)}/approve`)).status).toBe(201)
    await world.runTasks()
    expect((await ana.get(at(bench))).body.state).toBe('merged')
  })

  test('is tried out by merge_ref, which gives the same commit while nothing moves', async () => {
    const bench = await diverged()
    await bench.open('topic')
    const first = await ana.get(`${at(bench)}/merge_ref`)
    expect(bench.project.git('rev-parse', 'refs/merge-requests/1/merge')).toBe(first.body.commit_id)
    const tree = treeOfGit(bench, tip(bench), tip(bench, 'topic'))
    expect(bench.project.git('rev-parse', `${first.body.commit_id}^{tree}`)).toBe(tree)
    expect((await ana.get(`${at(bench)}/merge_ref`)).body).toEqual(first.body)
  })
})
