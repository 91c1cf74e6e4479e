import { afterAll, beforeAll, expect, test } from 'vitest'
import { actAs } from '../../../src/access/act-as.ts'
import { findProjectWithRole } from '../../../src/access/subjects.ts'
import { collaborationBranches } from '../../../src/repositories/refs/access.ts'
import { createProject } from '../../support/create.ts'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  openClientFolders,
  runGitClient,
} from '../../support/git-client.ts'
import { addMember } from '../../support/members.ts'
import { plansOf } from '../../support/plans.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let mona: Caller
let dora: Caller
let fred: Caller
let rita: Caller

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  mona = await world.user('mona')
  dora = await world.user('dora')
  fred = await world.user('fred')
  rita = await world.user('rita')
})
afterAll(() => folders.clear())

let count = 0

/** Fred's fork of ana's project, with the branches `topic` and `other`, and an open merge request from `topic`. */
async function stage(more: object = { allow_collaboration: true }, visibility = 'public') {
  count += 1
  const up = await createProject(ana, `up-${count}`, { visibility, initialize_with_readme: true })
  for (const [who, level] of [
    [mona, 40],
    [dora, 30],
    [rita, 20],
  ] as const)
    await addMember(world, up.id, who.id, level)
  if (visibility === 'private') await addMember(world, up.id, fred.id, 20)
  const { body: fork } = await fred.post(`/projects/${up.id}/fork`)
  await world.runTasks()
  const at = `/projects/${fork.id}`
  for (const branch of ['topic', 'other']) {
    const made = await commit(fred, at, branch, { start_branch: 'main' })
    expect(made.status).toBe(201)
  }
  const { status, body } = await fred.post(`${at}/merge_requests`, {
    ...{ source_branch: 'topic', target_branch: 'main', target_project_id: up.id, title: 'T' },
    ...more,
  })
  expect(status).toBe(201)
  await world.runTasks()
  return { up, fork, at, request: `/projects/${up.id}/merge_requests/${body.iid}` }
}

function commit(who: Caller, at: string, branch: string, more: object = {}) {
  count += 1
  return who.post(`${at}/repository/commits`, {
    ...{ branch, commit_message: 'x', ...more },
    actions: [{ action: 'create', file_path: `f-${count}`, content: 'x' }],
  })
}

const file = (at: string, name: string) => `${at}/repository/files/${name}`

test('whoever may merge a request that allows it pushes to its source, and nowhere else', async () => {
  const { up, at, request } = await stage()
  expect((await commit(mona, at, 'topic')).status).toBe(201)
  const content = { branch: 'topic', commit_message: 'x', content: 'x' }
  expect((await mona.post(file(at, 'one'), content)).status).toBe(201)
  const branches = `${at}/repository/branches`
  expect((await mona.get(`${branches}/topic`)).body.can_push).toBe(true)
  expect((await mona.get(`${branches}/other`)).body.can_push).toBe(false)
  const refusal = { message: '403 Forbidden - You are not allowed to push into this branch' }
  const other = await commit(mona, at, 'other')
  expect([other.status, other.body]).toEqual([403, refusal])
  expect((await commit(mona, at, 'new', { start_branch: 'topic' })).status).toBe(403)
  expect((await mona.post(file(at, 'two'), { ...content, branch: 'other' })).status).toBe(400)
  expect((await mona.post(branches, { branch: 'new', ref: 'topic' })).status).toBe(403)
  expect((await mona.delete(`${branches}/topic`)).status).toBe(403)
  expect((await mona.delete(`${at}/repository/merged_branches`)).status).toBe(403)
  expect((await mona.post(`${at}/repository/tags`, { tag_name: 't', ref: 'topic' })).status).toBe(
    403,
  )
  // The target is protected: developers may not merge into it until it lets them.
  expect((await commit(dora, at, 'topic')).status).toBe(403)
  await ana.patch(`/projects/${up.id}/protected_branches/main`, {
    allowed_to_merge: [{ access_level: 30 }],
  })
  expect((await commit(dora, at, 'topic')).status).toBe(201)
  expect((await commit(rita, at, 'topic')).status).toBe(403)
  expect((await mona.put(`${request}/rebase`)).status).toBe(202)
  await world.runTasks()
  await fred.put(request, { state_event: 'close' })
  expect((await commit(mona, at, 'topic')).status).toBe(403)
})

test('only an open request between projects that are not private lets others push to its branch', async () => {
  const plain = await stage({})
  expect((await commit(mona, plain.at, 'topic')).status).toBe(403)
  // Those whom it would let in cannot let themselves in.
  await mona.put(plain.request, { allow_collaboration: true, title: 'Mine' })
  expect((await commit(mona, plain.at, 'topic')).status).toBe(403)
  expect((await mona.get(plain.request)).body).toMatchObject({
    allow_collaboration: false,
    title: 'Mine',
  })
  await fred.put(plain.request, { allow_maintainer_to_push: true })
  expect((await commit(mona, plain.at, 'topic')).status).toBe(201)
  await fred.post(`${plain.at}/protected_branches`, { name: 'topic' })
  expect((await commit(mona, plain.at, 'topic')).status).toBe(403)
  const secret = await stage({ allow_collaboration: true }, 'private')
  expect((await commit(mona, secret.at, 'topic')).status).toBe(404)
  await addMember(world, secret.fork.id, mona.id, 20)
  expect((await commit(mona, secret.at, 'topic')).status).toBe(403)
})

test('git pushes to such a branch', async () => {
  const { fork } = await stage()
  const url = new URL(`/${fork.path_with_namespace}.git`, world.url)
  url.username = 'x'
  url.password = mona.token ?? ''
  const clone = await folders.repository()
  await gitClient(clone, ['fetch', '-q', url.href, 'topic'])
  await gitClient(clone, ['checkout', '-q', 'FETCH_HEAD'])
  const pushed = await commitFile(clone, 'pushed.txt', 'x', 'Push')
  await gitClient(clone, ['push', '-q', url.href, 'HEAD:topic'])
  for (const ref of ['+HEAD:other', 'HEAD:refs/heads/new', ':topic', 'HEAD:refs/tags/new']) {
    const run = await runGitClient(clone, ['push', url.href, ref])
    expect([ref, run.code === 0]).toEqual([ref, false])
    expect(run.stderr).toContain('You are not allowed to push code to this project.')
  }
  await commitFile(clone, 'more.txt', 'x', 'More')
  const both = await runGitClient(clone, ['push', '-f', url.href, 'HEAD:topic', 'HEAD:other'])
  expect(both.code).not.toBe(0)
  const { body } = await fred.get(`/projects/${fork.id}/repository/branches/topic`)
  expect(body.commit.id).toBe(pushed)
})

test('whoever does not see a fork may push to no branch of it', async () => {
  const { up, fork, request } = await stage()
  const ed = await world.user('ed', { external: true })
  await addMember(world, up.id, ed.id, 40)
  await fred.put(`/projects/${fork.id}`, { visibility: 'internal' })
  expect((await ed.get(`/projects/${fork.id}`)).status).toBe(404)
  expect((await ed.put(`${request}/rebase`)).status).toBe(403)
  expect((await mona.put(`${request}/rebase`)).status).toBe(202)
})

test('a project is asked once, however many branches its merge requests lend', async () => {
  const { up, fork, at } = await stage()
  const { db } = world.ctx
  const ask = async () => {
    const ctx = await actAs(world.ctx, mona.id)
    return await plansOf(db, async (db) => {
      const project = await findProjectWithRole({ ...ctx, db }, fork.id)
      if (project) await collaborationBranches({ ...ctx, db }, project)
    })
  }
  const { length } = await ask()
  for (const branch of ['other', 'main']) {
    const more = { source_branch: branch, target_branch: 'main', target_project_id: up.id }
    const body = { ...more, title: branch, allow_collaboration: true }
    expect((await fred.post(`${at}/merge_requests`, body)).status).toBe(201)
  }
  expect((await commit(mona, at, 'other')).status).toBe(201)
  expect((await ask()).length).toBe(length)
})
