import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  openClientFolders,
  runGitClient,
} from '../../support/git-client.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let ben: Caller

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  ben = await world.user('ben')
})
afterAll(() => folders.clear())

async function clone(bench: Bench, caller: Caller): Promise<string> {
  const { body } = await caller.get(`/projects/${bench.project.id}`)
  const address = new URL(`${world.url}/${body.path_with_namespace}.git`)
  address.username = caller.username
  address.password = caller.token ?? ''
  const folder = await folders.folder()
  await gitClient(folder, ['clone', '-q', address.href, 'copy'])
  const copy = join(folder, 'copy')
  await gitClient(copy, ['config', 'user.name', caller.username])
  await gitClient(copy, ['config', 'user.email', `${caller.username}@example.com`])
  return copy
}

describe('the message of a push', () => {
  test('is where its merge request is, or how to get one', async () => {
    const bench = await openBench(world, ana)
    const folder = await clone(bench, ana)
    await gitClient(folder, ['checkout', '-q', '-b', 'topic'])
    await commitFile(folder, 'a.txt', 'a\n', 'Add a')
    const first = await runGitClient(folder, ['push', 'origin', 'topic'])
    expect(first.stderr).toContain('To create a merge request for topic, visit:')
    await commitFile(folder, 'a.txt', 'b\n', 'Change a')
    const create = ['push', '-o', 'merge_request.create', 'origin', 'topic']
    const second = await runGitClient(folder, create)
    expect(second.stderr).toMatch(/remote: View merge request for topic:\s*\n/)
    const { body } = await ana.get(`${bench.api}/1`)
    expect(second.stderr).toContain(body.web_url)
    expect(second.stderr).not.toContain('WARNINGS')
  })

  test('names the options that came to nothing, and the push stands', async () => {
    const bench = await openBench(world, ana)
    const folder = await clone(bench, ana)
    await gitClient(folder, ['checkout', '-q', '-b', 'topic'])
    await commitFile(folder, 'a.txt', 'a\n', 'Add a')
    const push = (...options: string[]) =>
      runGitClient(folder, ['push', ...options.flatMap((one) => ['-o', one]), 'origin', 'topic'])
    const titled = await push('merge_request.title=X')
    expect([titled.code, titled.stderr]).toEqual([0, expect.stringContaining('WARNINGS:')])
    expect(titled.stderr).toContain(
      "push options 'merge_request.title': A merge_request.create push option is required",
    )
    await commitFile(folder, 'a.txt', 'b\n', 'Change a')
    const target = await push('merge_request.create', 'merge_request.target=nowhere')
    expect(target.stderr).toContain('target_branch "nowhere" does not exist')
    expect((await ana.get(bench.api)).body).toEqual([])
    await gitClient(folder, ['fetch', '-q'])
    expect(await gitClient(folder, ['rev-parse', 'origin/topic'])).toBe(
      await gitClient(folder, ['rev-parse', 'HEAD']),
    )
  })

  test('is called as its commit where it has one alone, else as its branch', async () => {
    const bench = await openBench(world, ana)
    const folder = await clone(bench, ana)
    const opened = async (branch: string, ...options: string[]) => {
      const flags = ['merge_request.create', ...options].flatMap((one) => ['-o', one])
      await gitClient(folder, ['push', '-q', ...flags, 'origin', `HEAD:refs/heads/${branch}`])
      const { body } = await ana.get(`${bench.api}?source_branch=${branch}`)
      return [body[0].title, body[0].description]
    }
    await commitFile(folder, 'a.txt', 'a\n', 'Add a\n\nIt was missing.\n\nAnd more.')
    expect(await opened('one-commit')).toEqual(['Add a', 'It was missing.\n\nAnd more.'])
    expect(await opened('a-draft', 'merge_request.draft', 'merge_request.description=Why')).toEqual(
      ['Draft: Add a', 'Why'],
    )
    expect(await opened('titled', 'merge_request.title=Mine')).toEqual(['Mine', null])
    await commitFile(folder, 'a.txt', 'b\n', 'Change a')
    expect(await opened('two-commits')).toEqual(['Two commits', null])
    expect(await opened('onto-one', 'merge_request.target=one-commit')).toEqual(['Change a', null])
    await gitClient(folder, ['reset', '-q', '--hard', 'origin/main'])
    await commitFile(folder, 'a.txt', 'c\n', 'x'.repeat(256))
    expect(await opened('long-title')).toEqual(['Long title', null])
  })

  test('is called as its branch where a fork does not have what the target has', async () => {
    const bench = await openBench(world, ana)
    const fork = await openBench(world, ben)
    const projects = world.ctx.db.updateTable('projects')
    await projects.set({ visibility: 'public' }).where('id', '=', bench.project.id).execute()
    const forked = { forked_from_id: bench.project.id }
    await projects.set(forked).where('id', '=', fork.project.id).execute()
    bench.commit('main', { 'later.txt': 'later\n' })
    const folder = await clone(fork, ben)
    await gitClient(folder, ['checkout', '-q', '-b', 'from-fork'])
    await commitFile(folder, 'a.txt', 'a\n', 'Add a')
    const { body: project } = await ana.get(`/projects/${bench.project.id}`)
    const target = `merge_request.target_project=${project.path_with_namespace}`
    const options = ['-o', 'merge_request.create', '-o', target]
    await gitClient(folder, ['push', '-q', ...options, 'origin', 'from-fork'])
    expect((await bench.read(1)).body).toMatchObject({ title: 'From fork', description: null })
    // It is its author's to call, and the project's to sort.
    const at = `/projects/${bench.project.id}`
    await ana.post(`${at}/labels`, { name: 'urgent', color: '#ff0000' })
    const milestone = (await ana.post(`${at}/milestones`, { title: 'Next' })).body
    const sorted = [
      { labels: 'urgent', milestone_id: milestone.id },
      { add_labels: 'urgent', reviewer_ids: [ana.id] },
      { assignee_id: ana.id },
      { assignee_ids: [ana.id], title: 'Mine' },
    ]
    for (const body of sorted) expect((await ben.put(`${bench.api}/1`, body)).status).toBe(200)
    await commitFile(folder, 'b.txt', 'b', 'More')
    const words = ['label=urgent', 'assign=ana', 'milestone=Next', 'description=Ours']
    const more = words.flatMap((option) => ['-o', `merge_request.${option}`])
    await gitClient(folder, ['push', '-q', '-o', target, ...more, 'origin', 'from-fork'])
    const left = { title: 'Mine', description: 'Ours', labels: [], milestone: null }
    const { body } = await bench.read(1)
    expect(body).toMatchObject({ ...left, assignees: [], reviewers: [] })
    await ana.put(`${bench.api}/1`, { labels: 'urgent' })
    await ben.put(`${bench.api}/1`, { remove_labels: 'urgent', description: 'x' })
    expect((await bench.read(1)).body).toMatchObject({ labels: ['urgent'], description: 'x' })
  })

  test('carries out the quick actions of a description', async () => {
    const bench = await openBench(world, ana)
    await ana.post(`/projects/${bench.project.id}/labels`, { name: 'bug', color: '#123456' })
    const folder = await clone(bench, ana)
    await gitClient(folder, ['checkout', '-q', '-b', 'topic'])
    await commitFile(folder, 'a.txt', 'a\n', 'Add a')
    const description = 'merge_request.description=Well\\n/label ~bug\\n/draft'
    const options = ['-o', 'merge_request.create', '-o', description]
    await gitClient(folder, ['push', '-q', ...options, 'origin', 'topic'])
    const { body } = await bench.read(1)
    expect(body).toMatchObject({ description: 'Well', labels: ['bug'], draft: true })
  })
})

describe('files with owners, on a branch whose protection asks for them', () => {
  async function owned() {
    const bench = await openBench(world, ana)
    await addMember(world, bench.project.id, ben.id, 40)
    bench.commit('main', { CODEOWNERS: '*.rb @ben\n[Docs]\ndocs/ @ana\n^[Free]\nfree/\n' })
    const rule = { name: 'main', code_owner_approval_required: true }
    const api = `/projects/${bench.project.id}`
    await ana.delete(`${api}/protected_branches/main`)
    expect((await ana.post(`${api}/protected_branches`, rule)).status).toBe(201)
    return { bench, api }
  }

  test('change by no push, whoever pushes; others do', async () => {
    const { bench } = await owned()
    const folder = await clone(bench, ana)
    await commitFile(folder, 'x.rb', 'x\n', 'Add x')
    await commitFile(folder, 'other.txt', 'x\n', 'Add other')
    const refused = await runGitClient(folder, ['push', 'origin', 'main'])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('changes to files that')
    expect(refused.stderr).toMatch(/remote: match patterns defined in `CODEOWNERS` are disabled/)
    expect(refused.stderr).toMatch(/remote: - \*\.rb/)
    await gitClient(folder, ['reset', '-q', '--hard', 'origin/main'])
    await commitFile(folder, 'other.txt', 'x\n', 'Add other')
    expect((await runGitClient(folder, ['push', 'origin', 'main'])).code).toBe(0)
  })

  test('change by no commit through the API, but by merge requests', async () => {
    const { bench, api } = await owned()
    const refused = await ana.post(`${api}/repository/commits`, {
      branch: 'main',
      commit_message: 'Add',
      actions: [{ action: 'create', file_path: 'docs/a.md', content: 'a' }],
    })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('- docs/')
    bench.commit('topic', { 'docs/a.md': 'a\n' })
    await bench.open('topic', {}, ben)
    const at = `${bench.api}/1`
    expect((await ana.post(`${at}/approve`)).status).toBe(201)
    expect((await ana.put(`${at}/merge`)).body.state).toBe('merged')
  })
})

test('a push that sets more than a hundred labels sets none', async () => {
  const bench = await openBench(world, ana)
  const folder = await clone(bench, ana)
  await gitClient(folder, ['checkout', '-q', '-b', 'bulk'])
  await commitFile(folder, 'bulk.txt', 'one\n', 'Add bulk')
  const labels = Array.from({ length: 101 }, (_, at) => `-o merge_request.label=l${at}`.split(' '))
  const options = ['-o', 'merge_request.create', ...labels.flat()]
  const { stderr } = await runGitClient(folder, ['push', '-q', ...options, 'origin', 'bulk'])
  expect(stderr).toMatch(/A push may name 100 labels or people at most/)
  expect((await ana.get(bench.api)).body).toEqual([])
})
