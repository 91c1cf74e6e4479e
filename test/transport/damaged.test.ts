import { readdirSync } from 'node:fs'
import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let source = ''
let whole: TestProject
beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  source = await folders.repository()
  whole = await makeProject(world, ana, 'whole', { from: source })
})
afterAll(() => folders.clear())

/** A repository in one pack, of which only a part is left. */
async function cutPack(project: TestProject): Promise<void> {
  await gitClient(project.repository, ['repack', '-adfq'])
  const folder = join(project.repository, 'objects', 'pack')
  const pack = (await readdir(folder)).find((name) => name.endsWith('.pack')) ?? ''
  await truncate(join(folder, pack), 60)
}

function workLeft(project: TestProject): string[] {
  const names = readdirSync(project.repository, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /tmp_objdir|incoming|\.lock$|tmp_pack|tmp_obj/.test(name))
}

describe('a repository whose pack was cut off', () => {
  let broken: TestProject
  beforeAll(async () => {
    broken = await makeProject(world, ana, 'broken', { from: source })
    await cutPack(broken)
  })

  test('is not cloned, and its client is told so in finite time', async () => {
    const target = join(await folders.folder(), 'copy')
    const run = await runGitClient(source, ['clone', '-q', '--bare', broken.url(ana), target])
    expect(run.code).not.toBe(0)
    expect(run.stderr).not.toBe('')
  })

  test('takes no push, and nothing of one is left', async () => {
    const run = await runGitClient(source, ['push', '-q', broken.url(ana), 'main:refs/heads/new'])
    expect(run.code).not.toBe(0)
    expect(workLeft(broken)).toEqual([])
    const refs = await gitClient(broken.repository, ['for-each-ref', '--format=%(refname)'])
    expect(refs.split('\n')).not.toContain('refs/heads/new')
  })

  test('answers reads of the API with a fault or nothing, never with something wrong', async () => {
    const answered: unknown[] = []
    for (const path of ['tree', 'commits', 'archive.tar.gz', 'contributors']) {
      const { status, body } = await ana.get(`/projects/${broken.id}/repository/${path}`)
      if (![404, 500, 503].includes(status)) answered.push({ path, status, body })
    }
    expect(answered).toEqual([])
    const { status } = await ana.post(`/projects/${broken.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'More',
      actions: [{ action: 'create', file_path: 'more.txt', content: 'more' }],
    })
    expect(status).toBeGreaterThanOrEqual(400)
  })

  test('leaves the other repositories alone', async () => {
    const target = join(await folders.folder(), 'copy')
    await gitClient(source, ['clone', '-q', '--bare', whole.url(ana), target])
    expect((await ana.get(`/projects/${whole.id}/repository/tree`)).status).toBe(200)
    await gitClient(source, ['push', '-q', whole.url(ana), 'main:refs/heads/still-there'])
  })
})
