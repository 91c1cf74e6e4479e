import { afterAll, describe, expect, test } from 'vitest'
import { commitFile, gitClient, openClientFolders, runGitClient } from '../../support/git-client.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
const folders = openClientFolders()

afterAll(() => folders.clear())

function url(bench: Bench, caller: Caller): string {
  const address = new URL(`${world.url}/${bench.project.fullPath}.git`)
  address.username = caller.username
  address.password = caller.token ?? ''
  return address.href
}

async function clone(bench: Bench, caller: Caller): Promise<string> {
  const folder = await folders.folder()
  await gitClient(folder, ['clone', '-q', url(bench, caller), '.'])
  return folder
}

describe('a review with the real git client', () => {
  test('goes from push options over approval, a push that resets it, to the merge', async () => {
    const bench = await openBench(world, ana)
    await addMember(world, bench.project.id, ben.id, 30)
    const folder = await clone(bench, ana)
    await gitClient(folder, ['checkout', '-q', '-b', 'topic'])
    await commitFile(folder, 'new.txt', 'one\n', 'Add new')
    const options = [
      'merge_request.create',
      'merge_request.target=main',
      'merge_request.title=From a push',
      'merge_request.description=first\\nsecond',
      'merge_request.label=fresh',
      'mr.draft',
      'merge_request.assign=ben',
      'unknown.option=x',
    ]
    const flags = options.flatMap((option) => ['-o', option])
    await gitClient(folder, ['push', '-q', ...flags, 'origin', 'topic'])
    const opened = await bench.read(1)
    expect(opened.body).toMatchObject({
      title: 'Draft: From a push',
      description: 'first\nsecond',
      labels: ['fresh'],
      author: { username: 'ana' },
      assignee: { username: 'ben' },
      detailed_merge_status: 'draft_status',
    })
    await gitClient(folder, ['fetch', '-q', 'origin', '+refs/merge-requests/*/head:refs/mr/*'])
    expect(await gitClient(folder, ['rev-parse', 'refs/mr/1'])).toBe(opened.body.sha)
    const at = `${bench.api}/1`
    await ana.put(at, { title: 'From a push' })
    expect((await ben.post(`${at}/approve`)).status).toBe(201)
    await commitFile(folder, 'new.txt', 'two\n', 'Change new')
    const again = ['push', '-q', '-o', 'merge_request.title=Retitled', 'origin', 'topic']
    await gitClient(folder, again)
    const pushed = await bench.read(1)
    expect(pushed.body).toMatchObject({ title: 'Retitled', detailed_merge_status: 'mergeable' })
    expect((await ana.get(`${at}/approvals`)).body.approved_by).toEqual([])
    expect((await ana.get(`${at}/versions`)).body).toHaveLength(2)
    await ben.post(`${at}/approve`)
    const merged = await ana.put(`${at}/merge`, { should_remove_source_branch: true })
    expect(merged.body.state).toBe('merged')
    await world.runTasks()
    await gitClient(folder, ['fetch', '-q', '--prune', 'origin'])
    expect(await gitClient(folder, ['branch', '-r'])).not.toContain('topic')
    expect(await gitClient(folder, ['rev-parse', 'origin/main'])).toBe(merged.body.merge_commit_sha)
  })

  test('ends when the branch is merged by a push, or deleted', async () => {
    const bench = await openBench(world, ana)
    const folder = await clone(bench, ana)
    for (const name of ['kept', 'gone', 'empty']) {
      await gitClient(folder, ['checkout', '-q', '-b', name, 'origin/main'])
      if (name !== 'empty') await commitFile(folder, `${name}.txt`, 'x\n', name)
      await gitClient(folder, ['push', '-q', '-o', 'mr.create', 'origin', name])
      await world.runTasks()
    }
    await gitClient(folder, ['checkout', '-q', '-B', 'main', 'origin/main'])
    await gitClient(folder, ['merge', '-q', '--no-ff', '-m', 'By hand', 'kept'])
    await gitClient(folder, ['push', '-q', 'origin', 'main'])
    await gitClient(folder, ['push', '-q', 'origin', ':gone'])
    await world.runTasks()
    const states = await ana.get(`${bench.api}?sort=asc`)
    expect(
      states.body.map((one: { title: string; state: string }) => [one.title, one.state]),
    ).toEqual([
      ['kept', 'merged'],
      ['gone', 'closed'],
      ['Empty', 'opened'],
    ])
    expect(states.body[0].merge_user.username).toBe('ana')
    const empty = await bench.read(3)
    expect(empty.body).toMatchObject({
      detailed_merge_status: 'commits_status',
      changes_count: null,
    })
  })

  test('sees a forced history as a new version, and users never push to its refs', async () => {
    const bench = await openBench(world, ana)
    await addMember(world, bench.project.id, ben.id, 30)
    await world.ctx.db
      .insertInto('protected_branches')
      .values({
        project_id: bench.project.id,
        name: 'main',
        created_at: world.ctx.now(),
        updated_at: world.ctx.now(),
      })
      .execute()
    const folder = await clone(bench, ben)
    await gitClient(folder, ['checkout', '-q', '-b', 'topic'])
    await commitFile(folder, 'a.txt', 'a\n', 'First')
    await gitClient(folder, ['push', '-q', '-o', 'mr.create', 'origin', 'topic'])
    await bench.read(1)
    await gitClient(folder, ['commit', '-q', '--amend', '-m', 'Other'])
    await gitClient(folder, ['push', '-q', '--force', 'origin', 'topic'])
    await bench.read(1)
    expect((await ana.get(`${bench.api}/1/versions`)).body).toHaveLength(2)
    const hidden = await runGitClient(folder, [
      'push',
      'origin',
      'topic:refs/merge-requests/1/head',
    ])
    expect(hidden.code).not.toBe(0)
    const refused = await runGitClient(folder, ['push', '--force', 'origin', 'topic:main'])
    expect(refused.stderr).toMatch(/not allowed to push code to protected branches/)
    expect((await ben.put(`${bench.api}/1/merge`)).status).toBe(401)
  })

  test('crosses forks, whose commits the target keeps', async () => {
    const bench = await openBench(world, ana)
    const fork = await openBench(world, ben)
    await world.ctx.db
      .updateTable('projects')
      .set({ forked_from_id: bench.project.id })
      .where('id', '=', fork.project.id)
      .execute()
    await world.ctx.db
      .updateTable('projects')
      .set({ visibility: 'public' })
      .where('id', 'in', [bench.project.id, fork.project.id])
      .execute()
    await gitClient(fork.project.path, ['fetch', '-q', bench.project.path, '+main:main'])
    const head = fork.commit('topic', { 'fork.txt': 'f\n' })
    const opened = await ben.post(fork.api, {
      source_branch: 'topic',
      target_branch: 'main',
      target_project_id: bench.project.id,
      title: 'Across',
      labels: 'not-mine',
    })
    expect(opened.status).toBe(201)
    expect(opened.body).toMatchObject({
      project_id: bench.project.id,
      source_project_id: fork.project.id,
      labels: [],
      user: { can_merge: false },
    })
    const read = await bench.read(1)
    expect(read.body).toMatchObject({ detailed_merge_status: 'mergeable', sha: head })
    expect(bench.project.git('rev-parse', 'refs/merge-requests/1/head')).toBe(head)
    expect((await ben.put(`${bench.api}/1/merge`)).status).toBe(401)
    expect((await ana.put(`${bench.api}/1/merge`)).body.state).toBe('merged')
    const strange = await openBench(world, ben)
    strange.commit('topic', { x: 'x' })
    const unrelated = await ben.post(strange.api, {
      source_branch: 'topic',
      target_branch: 'main',
      target_project_id: bench.project.id,
      title: 'No fork',
    })
    expect(unrelated.status).toBe(422)
  })
})
