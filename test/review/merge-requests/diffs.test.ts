import { describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

/** Makes a commit through the API, as those who push do. */
async function commit(bench: Bench, branch: string, actions: readonly object[], more: object = {}) {
  const at = `/projects/${bench.project.id}/repository/commits`
  const reply = await ana.post(at, {
    branch,
    commit_message: 'Change',
    actions,
    ...more,
  })
  expect([reply.status, reply.body.message]).toEqual([201, 'Change'])
  return reply.body.id as string
}

interface Changed {
  readonly old_path: string
  readonly new_path: string
  readonly diff: string
}

describe('the diff of a merge request', () => {
  test('lists new, changed, moved and deleted files, as git does', async () => {
    const bench = await openBench(world, ana)
    const long = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('')
    bench.commit('main', {
      'gone.txt': 'gone\n',
      'before.txt': long,
      'tool.sh': 'echo\n',
    })
    await commit(
      bench,
      'work',
      [
        { action: 'create', file_path: 'new.txt', content: 'new\n' },
        { action: 'delete', file_path: 'gone.txt' },
        { action: 'move', file_path: 'after.txt', previous_path: 'before.txt' },
        { action: 'chmod', file_path: 'tool.sh', execute_filemode: true },
        {
          action: 'update',
          file_path: 'README.md',
          content: 'one\n2\nthree\n',
        },
        { action: 'create', file_path: 'ünïcode/ß.txt', content: 'ß\n' },
      ],
      { start_branch: 'main' },
    )
    const { body: request } = await bench.open('work')
    const one = `${bench.api}/${request.iid}`
    const { body: diffs } = await ana.get(`${one}/diffs`)
    const byPath = new Map(diffs.map((file: Changed) => [file.new_path, file]))
    expect([...byPath.keys()].sort()).toEqual([
      'README.md',
      'after.txt',
      'gone.txt',
      'new.txt',
      'tool.sh',
      'ünïcode/ß.txt',
    ])
    expect(byPath.get('new.txt')).toMatchObject({
      new_file: true,
      deleted_file: false,
      renamed_file: false,
      a_mode: '0',
      b_mode: '100644',
      diff: '@@ -0,0 +1 @@\n+new\n',
    })
    expect(byPath.get('gone.txt')).toMatchObject({
      deleted_file: true,
      new_file: false,
      diff: '@@ -1 +0,0 @@\n-gone\n',
    })
    expect(byPath.get('after.txt')).toMatchObject({
      old_path: 'before.txt',
      renamed_file: true,
      diff: '',
    })
    expect(byPath.get('tool.sh')).toMatchObject({
      a_mode: '100644',
      b_mode: '100755',
      diff: '',
    })
    expect(byPath.get('README.md')).toMatchObject({
      old_path: 'README.md',
      collapsed: false,
      too_large: false,
      diff: '@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
    })
    expect(request.changes_count).toBe('6')

    const { body: changes } = await ana.get(`${one}/changes`)
    expect(changes.changes).toEqual(diffs)
    expect(changes).toMatchObject({
      iid: request.iid,
      overflow: false,
      title: 'Take work',
    })
    const raw = await ana.get(`${one}/raw_diffs`)
    expect(raw.headers.get('content-type')).toContain('text/plain')
    expect(raw.body).toContain('diff --git a/before.txt b/after.txt\nsimilarity index 100%')
    expect(raw.body).toContain('\n-two\n+2\n')
  })

  test('comes in pages, and with the names of its files where that is asked for', async () => {
    const bench = await openBench(world, ana)
    bench.commit('many', { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' })
    const { body: request } = await bench.open('many')
    const one = `${bench.api}/${request.iid}`
    const second = await ana.get(`${one}/diffs?per_page=2&page=2`)
    expect(second.body.map((file: Changed) => file.new_path)).toEqual(['c.txt'])
    expect(second.headers.get('x-total')).toBe('3')
    const unified = await ana.get(`${one}/diffs?per_page=1&unidiff=true`)
    expect(unified.body[0].diff).toBe('--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n')
    const changes = await ana.get(`${one}/changes?unidiff=true`)
    expect(changes.body.changes[0]).toEqual(unified.body[0])
    const { body: versions } = await ana.get(`${one}/versions`)
    const version = await ana.get(`${one}/versions/${versions[0].id}?unidiff=true`)
    expect(version.body.diffs[0]).toEqual(unified.body[0])
  })

  test('is empty where there is nothing to merge', async () => {
    const bench = await openBench(world, ana)
    bench.project.git('branch', 'same', 'main')
    const { status, body } = await bench.open('same')
    expect([status, body]).toMatchObject([
      200,
      { state: 'opened', has_conflicts: expect.any(Boolean) },
    ])
    expect([null, '0']).toContain(body.changes_count)
    expect(body.detailed_merge_status).toBe('commits_status')
    const one = `${bench.api}/${body.iid}`
    expect((await ana.get(`${one}/diffs`)).body).toEqual([])
    expect((await ana.get(`${one}/commits`)).body).toEqual([])
    expect((await ana.get(`${one}/changes`)).body).toMatchObject({
      changes: [],
      overflow: false,
    })
  })

  test('is what the source did since the branches parted, whatever the target did', async () => {
    const bench = await openBench(world, ana)
    bench.commit('work', { 'work.txt': 'w\n' })
    bench.commit('main', { 'README.md': 'else\n', 'main.txt': 'm\n' })
    const { body } = await bench.open('work')
    const one = `${bench.api}/${body.iid}`
    const { body: diffs } = await ana.get(`${one}/diffs`)
    expect(diffs.map((file: Changed) => file.new_path)).toEqual(['work.txt'])
    const diverged = await ana.get(`${one}?include_diverged_commits_count=true`)
    expect(diverged.body.diverged_commits_count).toBe(1)
    const { base_sha, start_sha, head_sha } = body.diff_refs
    expect(base_sha).toBe(bench.project.git('merge-base', 'main', 'work'))
    expect([start_sha, head_sha]).toEqual([
      expect.stringMatching(/^[0-9a-f]{40}$/),
      bench.project.git('rev-parse', 'work'),
    ])
  })

  test('stays what was merged', async () => {
    const bench = await openBench(world, ana)
    bench.commit('work', { 'work.txt': 'w\n' })
    const { body } = await bench.open('work', { remove_source_branch: true })
    const one = `${bench.api}/${body.iid}`
    const before = await ana.get(`${one}/diffs`)
    const commits = await ana.get(`${one}/commits`)
    expect((await ana.put(`${one}/merge`)).body.state).toBe('merged')
    await world.runTasks()
    bench.commit('main', { 'work.txt': 'later\n' })
    expect((await ana.get(`${one}/diffs`)).body).toEqual(before.body)
    expect((await ana.get(`${one}/commits`)).body).toEqual(commits.body)
    expect((await ana.get(`${one}/versions`)).body).toHaveLength(1)
  })
})

describe('the commits of a merge request', () => {
  test('are those of the source alone, newest first, in pages', async () => {
    const bench = await openBench(world, ana)
    const made: string[] = []
    for (const name of ['a', 'b', 'c']) made.unshift(bench.commit('work', { [name]: `${name}\n` }))
    bench.commit('main', { 'main.txt': 'm\n' })
    const { body } = await bench.open('work')
    const one = `${bench.api}/${body.iid}`
    const ids = async (query = '') =>
      (await ana.get(`${one}/commits${query}`)).body.map((each: { id: string }) => each.id)
    expect(await ids()).toEqual(made)
    expect(await ids('?per_page=2')).toEqual(made.slice(0, 2))
    expect(await ids('?per_page=2&page=2')).toEqual(made.slice(2))
    expect(await ids('?per_page=2&page=3')).toEqual([])
  })
})

describe('the versions of a merge request', () => {
  test('are one for each push, newest first, each with its own commits and files', async () => {
    const bench = await openBench(world, ana)
    const first = await commit(
      bench,
      'work',
      [{ action: 'create', file_path: 'a.txt', content: 'a\n' }],
      { start_branch: 'main' },
    )
    const { body: request } = await bench.open('work')
    const one = `${bench.api}/${request.iid}`
    world.setNow('2026-05-05T10:00:00.000Z')
    const second = await commit(bench, 'work', [
      { action: 'create', file_path: 'b.txt', content: 'b\n' },
    ])
    await bench.read(request.iid)
    world.setNow('2026-05-04T10:00:00.000Z')
    const { body: versions } = await ana.get(`${one}/versions`)
    const main = bench.project.git('rev-parse', 'main')
    expect(versions).toEqual(
      [
        { head: second, size: '2', at: '2026-05-05T10:00:00.000Z' },
        { head: first, size: '1', at: '2026-05-04T10:00:00.000Z' },
      ].map(({ head, size, at }) => ({
        id: expect.any(Number),
        head_commit_sha: head,
        base_commit_sha: main,
        start_commit_sha: main,
        created_at: at,
        merge_request_id: request.id,
        state: 'collected',
        real_size: size,
        patch_id_sha: expect.stringMatching(/^[0-9a-f]{40}$/),
      })),
    )
    const [newer, older] = versions
    expect(newer.patch_id_sha).not.toBe(older.patch_id_sha)
    const { body: opened } = await ana.get(`${one}/versions/${older.id}`)
    expect(opened).toMatchObject({
      ...older,
      commits: [{ id: first }],
      diffs: [{ new_path: 'a.txt' }],
    })
    const { body: latest } = await ana.get(`${one}/versions/${newer.id}`)
    expect(latest.commits.map((each: { id: string }) => each.id)).toEqual([second, first])
    expect(latest.diffs.map((file: Changed) => file.new_path)).toEqual(['a.txt', 'b.txt'])
    const paged = await ana.get(`${one}/versions?per_page=1&page=2`)
    expect([paged.body, paged.headers.get('x-total')]).toEqual([[older], '2'])
  })

  test('of another merge request are not found', async () => {
    const bench = await openBench(world, ana)
    bench.commit('one', { 'a.txt': 'a\n' })
    bench.commit('two', { 'b.txt': 'b\n' })
    await bench.open('one')
    await bench.open('two')
    const [version] = (await ana.get(`${bench.api}/1/versions`)).body
    expect((await ana.get(`${bench.api}/1/versions/${version.id}`)).status).toBe(200)
    expect((await ana.get(`${bench.api}/2/versions/${version.id}`)).status).toBe(404)
  })

  test('have the same patch id for the same change on another base', async () => {
    const bench = await openBench(world, ana)
    bench.commit('work', { 'w.txt': 'w\n' })
    const { body } = await bench.open('work')
    const one = `${bench.api}/${body.iid}`
    bench.commit('main', { 'm.txt': 'm\n' })
    await ana.put(`${one}/rebase`)
    await bench.read(body.iid)
    const { body: versions } = await ana.get(`${one}/versions`)
    expect(versions).toHaveLength(2)
    expect(versions[0].patch_id_sha).toBe(versions[1].patch_id_sha)
    expect(versions[0].head_commit_sha).not.toBe(versions[1].head_commit_sha)
  })

  test('get one more when the target is changed', async () => {
    const bench = await openBench(world, ana)
    bench.commit('stable', { 's.txt': 's\n' })
    bench.commit('work', { 'w.txt': 'w\n' }, 'stable')
    const { body } = await bench.open('work')
    const one = `${bench.api}/${body.iid}`
    expect(body.changes_count).toBe('2')
    await ana.put(one, { target_branch: 'stable' })
    const { body: after } = await bench.read(body.iid)
    expect(after).toMatchObject({
      target_branch: 'stable',
      changes_count: '1',
    })
    const { body: versions } = await ana.get(`${one}/versions`)
    expect(versions.map((version: { real_size: string }) => version.real_size)).toEqual(['1', '2'])
    expect(versions[0].start_commit_sha).toBe(bench.project.git('rev-parse', 'stable'))
    expect(await ana.get(`${one}/commits`)).toMatchObject({
      body: [expect.anything()],
    })
  })
})
