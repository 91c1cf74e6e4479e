import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { newTestFolder } from '../../support/test-folder.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const run = promisify(execFile)

const world = useWorld()
const ana = useCaller(world, 'ana')

test('a project with SHA-256 ids is written through the API, and git agrees with all of it', async () => {
  const made = await ana.post('/projects', {
    name: 'long ids',
    path: 'long-ids',
    initialize_with_readme: true,
    repository_object_format: 'sha256',
  })
  expect(made.status).toBe(201)
  const at = `/projects/${made.body.id}`
  const repository = `${at}/repository`
  const good = async (reply: ReturnType<Caller['get']>) => {
    const { status, body } = await reply
    expect([status < 300, body]).toEqual([true, body])
    return body
  }
  const commit = (branch: string, actions: readonly object[], more = {}) =>
    good(
      ana.post(`${repository}/commits`, { branch, commit_message: 'Change it', actions, ...more }),
    )
  const [first] = await good(ana.get(`${repository}/commits`))
  expect(first.id).toHaveLength(64)
  await commit('main', [
    { action: 'create', file_path: 'a/one.txt', content: 'one\ntwo\nthree\n' },
    { action: 'create', file_path: 'a/two.txt', content: 'two\n' },
  ])
  const many = Array.from({ length: 60 }, (_, n) => ({
    action: 'create',
    file_path: `many/${n}.txt`,
    content: `${n}\n`,
  }))
  await commit('main', many)
  const moved = await commit('main', [
    { action: 'move', previous_path: 'a/two.txt', file_path: 'b/two.txt' },
    { action: 'delete', file_path: 'README.md' },
    { action: 'chmod', file_path: 'a/one.txt', execute_filemode: true },
    { action: 'create', file_path: '.gitmodules', content: '' },
  ])
  const topic = await commit(
    'topic',
    [{ action: 'update', file_path: 'a/one.txt', content: 'one\ntwo\n3\n' }],
    { start_branch: 'main' },
  )
  await commit('main', [{ action: 'update', file_path: 'b/two.txt', content: 'zwei\n' }])
  expect(topic.id).toHaveLength(64)
  await good(ana.post(`${repository}/tags`, { tag_name: 'v1', ref: 'topic', message: 'First' }))
  await good(ana.get(`${repository}/commits/${first.id}/diff`))
  const diff = await good(ana.get(`${repository}/commits/${moved.id}/diff`))
  expect(diff).toHaveLength(4)
  const compared = await good(ana.get(`${repository}/compare?from=main&to=topic`))
  expect(compared.diffs).toHaveLength(1)
  const base = await good(ana.get(`${repository}/merge_base?refs[]=main&refs[]=topic`))
  expect(base.id).toBe(moved.id)
  const blame = await good(ana.get(`${repository}/files/a%2Fone.txt/blame?ref=topic`))
  expect(blame.map((range: { commit: { id: string } }) => range.commit.id)).toContain(topic.id)
  await good(ana.get(`${repository}/contributors`))
  await good(ana.get(`${repository}/tree?recursive=true`))
  expect((await ana.get(`${repository}/commits/${topic.id.slice(0, 10)}`)).body.id).toBe(topic.id)
  const request = await good(
    ana.post(`${at}/merge_requests`, { source_branch: 'topic', target_branch: 'main', title: 'X' }),
  )
  const one = `${at}/merge_requests/${request.iid}`
  await world.runTasks()
  expect((await good(ana.get(`${one}/changes`))).changes).toHaveLength(1)
  const merged = await good(ana.put(`${one}/merge`, {}))
  expect(merged.merge_commit_sha).toHaveLength(64)
  await good(ana.post(`${repository}/commits/${topic.id}/revert`, { branch: 'main' }))
  await good(ana.post(`${repository}/commits/${topic.id}/cherry_pick`, { branch: 'main' }))

  const clone = join(newTestFolder(), 'clone')
  const url = new URL(made.body.http_url_to_repo)
  const address = `${world.url.replace('://', `://ana:${ana.token}@`)}${url.pathname}`
  await run('git', ['clone', '-q', address, clone])
  const git = async (...args: string[]) => (await run('git', args, { cwd: clone })).stdout.trim()
  await git('fsck', '--strict', '--full')
  expect(await git('rev-parse', '--show-object-format')).toBe('sha256')
  expect(await git('show', 'main:a/one.txt')).toBe('one\ntwo\n3')
  expect(await git('show', 'main:b/two.txt')).toBe('zwei')
  expect(await git('ls-tree', 'main', 'a/one.txt')).toMatch(/^100755/)
  expect(await git('cat-file', '-t', 'v1')).toBe('tag')
})
