import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  openClientFolders,
  runGitClient,
} from '../support/git-client.ts'
import { addMember } from '../support/members.ts'
import { type Bench, openBench } from '../support/review.ts'
import { type Caller, useWorld } from '../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let ben: Caller
let bench: Bench
let folder: string
let at: string

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  ben = await world.user('ben')
})
beforeEach(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  await addMember(world, bench.project.id, ben.id, 30)
  const address = new URL(`${world.url}/${bench.project.fullPath}.git`)
  address.username = 'ana'
  address.password = ana.token ?? ''
  folder = join(await folders.folder(), 'copy')
  await gitClient(join(folder, '..'), ['clone', '-q', address.href, 'copy'])
})
afterAll(() => folders.clear())

let count = 0

/** Pushes a new commit to a branch with these options; gives what the user reads. */
async function push(branch: string, ...options: string[]): Promise<string> {
  await gitClient(folder, ['checkout', '-q', '-B', branch])
  await commitFile(folder, `${branch}.txt`, String(++count), `Change ${branch}`)
  const asked = options.flatMap((option) => ['-o', option])
  const run = await runGitClient(folder, ['push', ...asked, 'origin', branch])
  expect(run.code, run.stderr).toBe(0)
  return run.stderr
}

const request = async (iid = 1) => (await ana.get(`${bench.api}/${iid}`)).body

describe('a merge request made by a push', () => {
  test('has all that its options say', async () => {
    await ana.post(`${at}/milestones`, { title: 'Next one' })
    const said = await push(
      'topic',
      'merge_request.create',
      'merge_request.title=A title, with = and ü',
      'merge_request.description=First\\n\\nSecond',
      'merge_request.draft',
      'merge_request.label=one',
      'merge_request.label=two words',
      `merge_request.assign=${ben.id}`,
      'merge_request.assign=ana',
      'merge_request.milestone=Next one',
      'merge_request.remove_source_branch',
      'merge_request.squash',
    )
    expect(said).not.toContain('WARNINGS')
    const body = await request()
    expect(body).toMatchObject({
      title: 'Draft: A title, with = and ü',
      draft: true,
      description: 'First\n\nSecond',
      labels: ['one', 'two words'],
      milestone: { title: 'Next one' },
      force_remove_source_branch: true,
      squash: true,
      source_branch: 'topic',
      target_branch: 'main',
      author: { username: 'ana' },
    })
    expect(body.assignees.map((one: { username: string }) => one.username).sort()).toEqual([
      'ana',
      'ben',
    ])
  })

  test('goes to the branch that is named, and takes the short form of the words', async () => {
    await ana.post(`${at}/repository/branches`, { branch: 'stable/1', ref: 'main' })
    await push('fix', 'mr.create', 'mr.target=stable/1')
    expect(await request()).toMatchObject({ target_branch: 'stable/1', source_branch: 'fix' })
  })

  test('is one for each branch, however often it is asked for', async () => {
    await push('again', 'merge_request.create')
    await push('again', 'merge_request.create', 'merge_request.title=Second')
    const list = (await ana.get(bench.api)).body
    expect(list.map((one: { title: string }) => one.title)).toEqual(['Second'])
  })

  test('is made for each of the branches that are pushed together', async () => {
    for (const branch of ['a', 'b']) {
      await gitClient(folder, ['checkout', '-q', '-B', branch, 'origin/main'])
      await commitFile(folder, `${branch}.txt`, branch, `Add ${branch}`)
    }
    await gitClient(folder, ['push', '-q', '-o', 'mr.create', 'origin', 'a', 'b'])
    const list = (await ana.get(`${bench.api}?sort=asc`)).body
    expect(list.map((one: { source_branch: string }) => one.source_branch)).toEqual(['a', 'b'])
  })

  test('is none for more than ten branches, which arrive all the same', async () => {
    await gitClient(folder, ['checkout', '-q', '-B', 'many'])
    await commitFile(folder, 'many.txt', 'x', 'Many')
    const refs = Array.from({ length: 11 }, (_, n) => `HEAD:refs/heads/many-${n}`)
    const run = await runGitClient(folder, ['push', '-o', 'mr.create', 'origin', ...refs])
    expect([run.code, run.stderr.includes('WARNINGS:')]).toEqual([0, true])
    expect((await ana.get(bench.api)).body).toEqual([])
    expect(
      (await ana.get(`${at}/repository/branches?search=^many-&per_page=20`)).body,
    ).toHaveLength(11)
    const ten = refs.slice(0, 10).map((ref) => ref.replace('many', 'ten'))
    await gitClient(folder, ['push', '-q', '-o', 'mr.create', 'origin', ...ten])
    expect((await ana.get(bench.api)).body).toHaveLength(10)
  })
})

describe('an open merge request', () => {
  test('is changed by what a later push names, and keeps the rest', async () => {
    await push(
      'topic',
      'mr.create',
      'mr.label=one',
      'mr.label=two',
      'mr.assign=ben',
      'mr.title=Old',
    )
    await push('topic', 'mr.unlabel=one', 'mr.label=three', 'mr.unassign=ben', 'mr.assign=ana')
    expect(await request()).toMatchObject({
      title: 'Old',
      labels: ['three', 'two'],
      assignees: [{ username: 'ana' }],
    })
    await push('topic', 'mr.description=Said', 'mr.draft', 'mr.squash')
    expect(await request()).toMatchObject({
      title: 'Draft: Old',
      description: 'Said',
      labels: ['three', 'two'],
      squash: true,
      state: 'opened',
    })
    await ana.post(`${at}/repository/branches`, { branch: 'stable', ref: 'main' })
    await push('topic', 'mr.target=stable')
    expect((await request()).target_branch).toBe('stable')
  })
})

describe('options that nobody knows', () => {
  test('are passed over', async () => {
    const said = await push('odd', 'nonsense', 'a=b=c', 'integrations.skip_ci', 'ci.unknown=1')
    expect(said).not.toContain('WARNINGS')
    expect((await ana.get(bench.api)).body).toEqual([])
  })
})

describe('what a push says about merge requests', () => {
  const hint = 'To create a merge request for'

  test('is nothing where the project wants none', async () => {
    expect(await push('first')).toContain(`${hint} first, visit:`)
    await ana.put(at, { printing_merge_request_link_enabled: false })
    expect(await push('first')).not.toContain(hint)
    await ana.put(at, {
      printing_merge_request_link_enabled: true,
      merge_requests_access_level: 'disabled',
    })
    expect(await push('first')).not.toContain(hint)
    await ana.put(at, { merge_requests_access_level: 'enabled' })
    expect(await push('first')).toContain(hint)
  })

  test('is nothing of the default branch, tags and deletions', async () => {
    expect(await push('main')).not.toContain(hint)
    await gitClient(folder, ['tag', 'v1'])
    const tagged = await runGitClient(folder, ['push', 'origin', 'v1'])
    expect(tagged.stderr).not.toContain(hint)
    await push('brief')
    const gone = await runGitClient(folder, ['push', 'origin', ':brief'])
    expect([gone.code, gone.stderr.includes(hint)]).toEqual([0, false])
  })

  test('names the open one until it is closed', async () => {
    await push('topic', 'mr.create')
    const { web_url } = await request()
    expect(await push('topic')).toContain(web_url)
    await ana.put(`${bench.api}/1`, { state_event: 'close' })
    const said = await push('topic')
    expect(said).not.toContain(web_url)
    expect(said).toContain(`${hint} topic, visit:`)
  })
})
