import { describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

const at = (bench: Bench, iid = 1) => `${bench.api}/${iid}`
const tip = (bench: Bench, ref = 'main') => bench.project.git('rev-parse', ref)
const parents = (bench: Bench, ref = 'main') =>
  bench.project.git('show', '-s', '--format=%P', ref).split(' ')
const message = (bench: Bench, ref = 'main') =>
  bench.project.git('show', '-s', '--format=%B', ref).trim()
const branches = (bench: Bench) =>
  bench.project.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n')

/** A project of ana's with these settings, and a branch `topic` of so many commits. */
async function stage(settings: object = {}, commits = 2): Promise<Bench> {
  const bench = await openBench(world, ana)
  for (let index = 0; index < commits; index += 1) {
    bench.commit('topic', { [`${index}.txt`]: 'x\n' })
  }
  const changed = await ana.put(`/projects/${bench.project.id}`, { description: 'x', ...settings })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  return bench
}

async function merge(bench: Bench, more: object = {}, iid = 1) {
  const reply = await ana.put(`${at(bench, iid)}/merge`, more)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}

describe('squashing', () => {
  test.each([
    ['never', { squash: true }, {}, false],
    ['never', {}, { squash: true }, false],
    ['always', { squash: false }, {}, true],
    ['always', {}, { squash: false }, true],
    ['default_on', {}, {}, true],
    ['default_on', { squash: false }, {}, false],
    ['default_on', {}, { squash: false }, false],
    ['default_off', {}, {}, false],
    ['default_off', { squash: true }, {}, true],
    ['default_off', {}, { squash: true }, true],
  ])('with %s, opened with %j and merged with %j: %s', async (option, opened, merged, squashes) => {
    const bench = await stage({ squash_option: option })
    await bench.open('topic', opened)
    const before = tip(bench)
    const head = tip(bench, 'topic')
    const body = await merge(bench, merged)
    const [first, second] = parents(bench)
    expect(first).toBe(before)
    expect(second === head).toBe(!squashes)
    expect(body.squash_commit_sha).toBe(squashes ? second : null)
    if (squashes) expect(parents(bench, second)).toEqual([before])
  })

  test('leaves a single commit as it is, unless a message is given', async () => {
    const plain = await stage({}, 1)
    await plain.open('topic', { squash: true })
    const head = tip(plain, 'topic')
    expect((await merge(plain)).squash_commit_sha).toBeNull()
    expect(parents(plain)[1]).toBe(head)
    const named = await stage({}, 1)
    await named.open('topic', { squash: true })
    const body = await merge(named, { squash_commit_message: 'In other words' })
    expect(message(named, body.squash_commit_sha)).toBe('In other words')
  })

  test('by fast-forward puts the one commit on the target', async () => {
    const bench = await stage({ merge_method: 'ff' })
    await bench.open('topic', { squash: true, title: 'As one' })
    const [before, head] = [tip(bench), tip(bench, 'topic')]
    const body = await merge(bench)
    expect(body).toMatchObject({ merge_commit_sha: null, squash_commit_sha: tip(bench) })
    expect([parents(bench), message(bench)]).toEqual([[before], 'As one'])
    expect(tip(bench, 'main^{tree}')).toBe(tip(bench, `${head}^{tree}`))
  })
})

describe('the message', () => {
  test('is made of the template of the project', async () => {
    const merge_commit_template =
      '%{title} from %{source_branch} to %{target_branch}\n\n%{issues}\n\n%{description}\n\n%{reference} %{local_reference} %{source_project_id}\n%{url}\n%{unknown}'
    const squash_commit_template = '%{title}\n\n%{all_commits}\n\n%{first_commit}'
    const bench = await stage({ merge_commit_template, squash_commit_template })
    await bench.open('topic', { squash: true, title: 'Mend it', description: 'Because.' })
    const body = await merge(bench)
    const reference = `${bench.project.fullPath}!1`
    const url = (await ana.get(at(bench))).body.web_url
    expect(message(bench)).toBe(
      `Mend it from topic to main\n\nBecause.\n\n${reference} !1 ${bench.project.id}\n${url}\n%{unknown}`,
    )
    expect(message(bench, body.squash_commit_sha)).toBe(
      'Mend it\n\n* Change topic\n\n* Change topic\n\nChange topic',
    )
  })

  test('that is given wins over the template', async () => {
    const bench = await stage({ merge_commit_template: 'Template', squash_commit_template: 'T' })
    await bench.open('topic', { squash: true })
    const given = { merge_commit_message: 'Given', squash_commit_message: 'Given too' }
    const body = await merge(bench, given)
    expect([message(bench), message(bench, body.squash_commit_sha)]).toEqual(['Given', 'Given too'])
  })

  test('may be as long as hundreds of kilobytes, and in any script', async () => {
    const bench = await stage()
    await bench.open('topic')
    const long = `Über 合并 🎉\n\n${'x'.repeat(300_000)}`
    await merge(bench, { merge_commit_message: long })
    expect(message(bench)).toBe(long)
  })
})

describe('the method', () => {
  test('rebase_merge makes a merge commit, of what could be fast-forwarded alone', async () => {
    const bench = await stage({ merge_method: 'rebase_merge' })
    bench.commit('main', { 'main.txt': 'main\n' })
    const { body } = await bench.open('topic')
    expect(body.detailed_merge_status).toBe('need_rebase')
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(422)
    expect((await ana.put(`${at(bench)}/rebase`)).status).toBe(202)
    expect((await bench.read(1)).body.detailed_merge_status).toBe('mergeable')
    const [before, head] = [tip(bench), tip(bench, 'topic')]
    const merged = await merge(bench)
    expect(parents(bench)).toEqual([before, head])
    expect(merged.merge_commit_sha).toBe(tip(bench))
  })

  test('merge makes a merge commit even of what could be fast-forwarded', async () => {
    const bench = await stage()
    await bench.open('topic')
    const [before, head] = [tip(bench), tip(bench, 'topic')]
    await merge(bench)
    expect(parents(bench)).toEqual([before, head])
  })
})

test('the message names no issues that whoever merges cannot see', async () => {
  const hidden = await world.user('hider')
  const secret = await createProject(hidden, 'secret', { visibility: 'private' })
  await hidden.post(`/projects/${secret.id}/issues`, { title: 'x' })
  const bench = await stage()
  await ana.post(`/projects/${bench.project.id}/issues`, { title: 'x' })
  await bench.open('topic', { description: 'Closes #1, closes hider/secret#1' })
  const merged = await merge(bench)
  const commits = `/projects/${bench.project.id}/repository/commits`
  const { message } = (await ana.get(`${commits}/${merged.merge_commit_sha}`)).body
  expect(message).toContain('Closes #1\n')
  expect(message).not.toContain('secret')
})

describe('the source branch', () => {
  test('goes when either side asks, and merge requests into it get its target', async () => {
    const bench = await stage()
    await bench.open('topic', { remove_source_branch: true })
    bench.commit('next', { 'next.txt': 'next\n' }, 'topic')
    const next = await bench.open('next', { target_branch: 'topic' })
    expect(next.body.target_branch).toBe('topic')
    expect((await merge(bench)).force_remove_source_branch).toBe(true)
    await world.runTasks()
    expect(branches(bench)).toEqual(['main', 'next'])
    const moved = await bench.read(2)
    expect(moved.body).toMatchObject({ target_branch: 'main', state: 'opened' })
    const commits = await ana.get(`${at(bench, 2)}/commits`)
    expect(commits.body.map((one: { id: string }) => one.id)).toEqual([tip(bench, 'next')])
  })

  test('goes, and what wanted into it closes its issues in its target', async () => {
    const bench = await stage({ merge_method: 'ff' })
    const project = `/projects/${bench.project.id}`
    for (const title of ['one', 'two']) await ana.post(`${project}/issues`, { title })
    await bench.open('topic', { remove_source_branch: true })
    bench.commit('next', { 'next.txt': 'next\n' }, 'topic')
    await bench.open('next', { target_branch: 'topic', description: 'Closes #1 and #2' })
    await merge(bench)
    await world.runTasks()
    expect((await ana.get(`${at(bench, 2)}/closes_issues`)).body).toHaveLength(2)
  })

  test('stays when nobody asks, and when whoever merges says so', async () => {
    const bench = await stage()
    await bench.open('topic', { remove_source_branch: true })
    const merged = await merge(bench, { should_remove_source_branch: false })
    expect(merged.should_remove_source_branch).toBe(false)
    await world.runTasks()
    const other = await stage()
    await other.open('topic')
    await merge(other)
    await world.runTasks()
    expect([branches(bench), branches(other)]).toEqual([
      ['main', 'topic'],
      ['main', 'topic'],
    ])
  })

  test('stays when it is protected', async () => {
    const bench = await stage()
    await ana.post(`/projects/${bench.project.id}/protected_branches`, { name: 'top*' })
    await bench.open('topic')
    await merge(bench, { should_remove_source_branch: true })
    await world.runTasks()
    expect(branches(bench)).toEqual(['main', 'topic'])
  })
})

describe('what stands in the way', () => {
  test('is a time that has not come', async () => {
    const bench = await stage()
    const { body } = await bench.open('topic', { merge_after: '2999-01-01T00:00:00Z' })
    expect(body.detailed_merge_status).toBe('merge_time')
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(405)
    await ana.put(at(bench), { merge_after: '2001-01-01T00:00:00Z' })
    expect((await bench.read(1)).body.detailed_merge_status).toBe('mergeable')
    await merge(bench)
  })

  test('is a thread that nobody has resolved, where the project wants that', async () => {
    const bench = await stage({ only_allow_merge_if_all_discussions_are_resolved: true })
    await bench.open('topic')
    const thread = await ana.post(`${at(bench)}/discussions`, { body: 'Why?' })
    const read = await bench.read(1)
    expect(read.body).toMatchObject({
      detailed_merge_status: 'discussions_not_resolved',
      blocking_discussions_resolved: false,
    })
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(405)
    await ana.put(`${at(bench)}/discussions/${thread.body.id}`, { resolved: true })
    expect((await bench.read(1)).body.blocking_discussions_resolved).toBe(true)
    await merge(bench)
  })

  test('is a source without commits, or without a branch', async () => {
    const bench = await stage()
    bench.project.git('branch', 'same', 'main')
    const same = await bench.open('same')
    expect(same.body).toMatchObject({ detailed_merge_status: 'commits_status', state: 'opened' })
    expect((await ana.put(`${at(bench)}/merge`)).status).not.toBe(200)
    await bench.open('topic')
    const gone = `/projects/${bench.project.id}/repository/branches/topic`
    expect((await ana.delete(gone)).status).toBe(204)
    const read = await bench.read(2)
    expect(read.body).toMatchObject({ state: 'closed', sha: null })
    // What was to be merged is still known.
    expect(read.body.diff_refs.head_sha).toMatch(/^[0-9a-f]{40}$/)
    expect((await ana.put(`${at(bench, 2)}/merge`)).status).toBe(405)
  })

  test.each(['Draft: x', '[Draft] x', '(draft) x', 'dRaFt:x'])('is the title %j', async (title) => {
    const bench = await stage()
    const { body } = await bench.open('topic', { title })
    expect(body).toMatchObject({
      title,
      draft: true,
      work_in_progress: true,
      detailed_merge_status: 'draft_status',
    })
    expect((await ana.put(`${at(bench)}/merge`)).status).toBe(405)
    await ana.put(at(bench), { title: 'Drafting: x' })
    expect((await bench.read(1)).body).toMatchObject({ draft: false })
    await merge(bench)
  })
})
