import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dora = useCaller(world, 'dora')
const rita = useCaller(world, 'rita')
let bench: Bench
let count = 0

beforeAll(async () => {
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, dora.id, 30)
  await addMember(world, bench.project.id, rita.id, 20)
})

/** A merge request of a branch that changes the same line of a file as `main` does. */
async function conflicting(more: Readonly<Record<string, string>> = {}) {
  count += 1
  const file = `file-${count}.txt`
  bench.commit('main', { [file]: 'a\nb\nc\n' })
  bench.commit(`topic-${count}`, { [file]: 'a\nours\nc\n', ...more })
  bench.commit('main', { [file]: 'a\ntheirs\nc\n', ...more })
  const { body } = await bench.open(`topic-${count}`)
  expect(body.has_conflicts).toBe(true)
  return {
    file,
    branch: `topic-${count}`,
    url: `${bench.api}/${body.iid}/conflicts`,
    iid: body.iid,
  }
}

/** A good answer to what `GET …/conflicts` says. */
function answerTo({ body }: Reply, side = 'ours') {
  const { source_sha, target_sha } = body
  const files = body.files.map(({ path, parts }: { path: string; parts: { id?: string }[] }) => ({
    path,
    sections: Object.fromEntries(parts.flatMap(({ id }) => (id === undefined ? [] : [[id, side]]))),
  }))
  return { source_sha, target_sha, files }
}

const tip = (branch: string) => git(bench.project.path, ['rev-parse', branch])

test('conflicts are read, resolved by sections, and the merge request can be merged then', async () => {
  const { url, file, branch, iid } = await conflicting()
  const read = await dora.get(url)
  expect(read.body).toEqual({
    source_sha: tip(branch),
    target_sha: tip('main'),
    can_resolve: true,
    overflow: false,
    files: [
      {
        path: file,
        kind: 'content',
        parts: [
          { type: 'same', text: 'a\n' },
          { type: 'conflict', id: expect.any(String), ours: 'ours\n', theirs: 'theirs\n' },
          { type: 'same', text: 'c\n' },
        ],
      },
    ],
  })
  const before = [tip(branch), tip('main')]
  const { status, body } = await dora.put(url, answerTo(read, 'theirs'))
  expect(status).toBe(200)
  expect(body.commit_id).toBe(tip(branch))
  const said = git(bench.project.path, ['show', '-s', '--format=%P%n%an%n%s', branch])
  expect(said).toBe(`${before.join(' ')}\ndora\nMerge branch 'main' into '${branch}'`)
  expect(git(bench.project.path, ['show', `${branch}:${file}`])).toBe('a\ntheirs\nc')
  const now = (await bench.read(iid)).body
  expect(now).toMatchObject({ has_conflicts: false, sha: body.commit_id })
  const pushes = await ana.get(`/projects/${bench.project.id}/events?action=pushed`)
  expect(pushes.body[0].push_data).toMatchObject({ commit_to: body.commit_id, ref: branch })
  expect((await dora.get(url)).body).toMatchObject({ files: [], can_resolve: false })
})

test('a whole text and a message of one’s own', async () => {
  const { url, file, branch } = await conflicting()
  const { source_sha, target_sha } = (await dora.get(url)).body
  const files = [{ path: file, content: 'all\n' }]
  const sent = { source_sha, target_sha, files, commit_message: 'Take both' }
  expect((await dora.put(url, sent)).status).toBe(200)
  expect(git(bench.project.path, ['show', '-s', '--format=%B', branch])).toBe('Take both')
  expect(git(bench.project.path, ['show', `${branch}:${file}`])).toBe('all')
})

test('a branch that moved meanwhile is 409, and nothing is moved', async () => {
  for (const moving of ['source', 'target']) {
    const { url, branch } = await conflicting()
    const read = await dora.get(url)
    bench.commit(moving === 'source' ? branch : 'main', { 'later.txt': moving })
    const before = tip(branch)
    expect((await dora.put(url, answerTo(read))).status).toBe(409)
    expect(tip(branch)).toBe(before)
  }
})

test('files that are not resolved are named', async () => {
  const { url, file, branch } = await conflicting()
  const read = await dora.get(url)
  const before = tip(branch)
  const sent = { ...answerTo(read), files: [{ path: 'other', content: 'x' }] }
  const { status, body } = await dora.put(url, sent)
  expect([status, body.message]).toEqual([
    400,
    [`${file} is not resolved`, 'other has no conflict'],
  ])
  const wrong = { ...answerTo(read), files: [{ path: file, sections: { x: 'both' } }] }
  expect((await dora.put(url, wrong)).status).toBe(400)
  const marks = { ...answerTo(read), files: [{ path: file, content: '<<<<<<< x\n' }] }
  const left = await dora.put(url, marks)
  expect([left.status, left.body.message]).toEqual([400, [`${file} still has conflict markers`]])
  expect(tip(branch)).toBe(before)
})

test('binary files are named, and not resolvable here', async () => {
  count += 1
  bench.commit(`topic-${count}`, { bin: 'a\0b' })
  bench.commit('main', { bin: 'a\0c' })
  const { iid } = (await bench.open(`topic-${count}`)).body
  const url = `${bench.api}/${iid}/conflicts`
  const read = await dora.get(url)
  expect(read.body.files).toEqual([{ path: 'bin', kind: 'binary', parts: null }])
  expect(read.body.can_resolve).toBe(false)
  const sent = { ...answerTo({ ...read, body: { ...read.body, files: [] } }) }
  const { status, body } = await dora.put(url, { ...sent, files: [{ path: 'bin', content: 'x' }] })
  expect([status, body.message]).toEqual([400, ['bin cannot be resolved here; use git']])
})

test('who may not push to the source branch may read, and not resolve', async () => {
  const { url, branch, iid } = await conflicting()
  const read = await rita.get(url)
  expect([read.status, read.body.can_resolve]).toEqual([200, false])
  expect((await rita.put(url, answerTo(read))).status).toBe(403)
  expect((await world.nobody.put(url, answerTo(read))).status).toBe(401)
  const protectedBranch = { name: branch, push_access_level: 40 }
  await ana.post(`/projects/${bench.project.id}/protected_branches`, protectedBranch)
  expect((await dora.put(url, answerTo(read))).status).toBe(403)
  expect((await dora.get(url)).body.can_resolve).toBe(false)
  expect((await ana.put(url, answerTo(read))).status).toBe(200)
  await ana.put(`${bench.api}/${iid}`, { state_event: 'close' })
  expect((await ana.put(url, answerTo(read))).status).toBe(405)
  expect((await ana.get(url)).body.files).toEqual([])
})

test('conflicts of a fork are resolved in the fork', async () => {
  const up = await createProject(ana, 'up', { visibility: 'public', initialize_with_readme: true })
  const fred = await world.user('fred')
  const { body: fork } = await fred.post(`/projects/${up.id}/fork`)
  await world.runTasks()
  const change = (who: Caller, id: number, content: string) =>
    who.post(`/projects/${id}/repository/commits`, {
      ...{ branch: 'main', commit_message: 'x' },
      actions: [{ action: 'update', file_path: 'README.md', content }],
    })
  expect((await change(fred, fork.id, 'fork\n')).status).toBe(201)
  const { body: opened } = await fred.post(`/projects/${fork.id}/merge_requests`, {
    ...{ source_branch: 'main', target_branch: 'main', target_project_id: up.id, title: 'T' },
  })
  expect((await change(ana, up.id, 'up\n')).status).toBe(201)
  await world.runTasks()
  const url = `/projects/${up.id}/merge_requests/${opened.iid}/conflicts`
  const read = await fred.get(url)
  expect((await ana.put(url, answerTo(read))).status).toBe(403)
  const { status, body } = await fred.put(url, answerTo(read))
  expect(status).toBe(200)
  const branch = (await fred.get(`/projects/${fork.id}/repository/branches/main`)).body
  expect(branch.commit.id).toBe(body.commit_id)
  await world.runTasks()
  const now = (await ana.get(`/projects/${up.id}/merge_requests/${opened.iid}`)).body
  expect(now.sha).toBe(body.commit_id)
})
