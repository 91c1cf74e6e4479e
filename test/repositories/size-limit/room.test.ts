import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import {
  type ClientFolders,
  gitClient,
  openClientFolders,
  runGitClient,
} from '../../support/git-client.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const MEBIBYTE = 1024 * 1024
const ask = 'Please contact your administrator for more information.'
const tooMuch = `Your push to this repository would cause it to exceed the size limit of 1 MiB so it has been rejected. ${ask}`
const notTaken = `The repository would exceed its size limit of 1 MiB. ${ask}`
const notCommitted =
  'Your changes could not be committed, because they would cause this repository to exceed its size limit of 1 MiB'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
let folders: ClientFolders
let ana: Caller
let count = 0

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
})
beforeEach(() => limit(0))
afterAll(() => folders.clear())

async function limit(mebibytes: number): Promise<void> {
  const set = { repository_size_limit: mebibytes }
  expect((await world.root.put('/application/settings', set)).status).toBe(200)
}

async function project(more: object = {}) {
  count += 1
  const { id, path_with_namespace } = await createProject(ana, `room-${count}`, more)
  return { id, path: path_with_namespace }
}

const urlOf = (path: string) =>
  `${world.url}/${path}.git`.replace('://', `://ana:${ana.token ?? ''}@`)

/** A clone with one commit of random bytes more: nothing makes those smaller. */
async function cloneWith(path: string, size: number, name = 'large'): Promise<string> {
  const folder = await folders.folder()
  await gitClient(folder, ['clone', '-q', urlOf(path), '.'])
  await writeFile(join(folder, name), randomBytes(size))
  await gitClient(folder, ['add', '.'])
  await gitClient(folder, ['commit', '-q', '-m', name])
  return folder
}
const push = (folder: string, ref: string) =>
  runGitClient(folder, ['push', '-q', 'origin', `HEAD:refs/heads/${ref}`])

const text = (bytes: number) => randomBytes(bytes / 2).toString('hex')

describe('of changes that come at the same time, no more is taken than there is room for', () => {
  test('pushes, small and large', async () => {
    const { id, path } = await project({ initialize_with_readme: true })
    const sizes = [150_000, 150_000, 150_000, 400_000, 400_000, 400_000]
    const clones = await Promise.all(sizes.map((size) => cloneWith(path, size)))
    await limit(1)
    const pushed = await Promise.all(clones.map((folder, at) => push(folder, `at-once-${at}`)))
    const refused = pushed.filter(({ code }) => code !== 0)
    expect(refused.length).toBeGreaterThan(0)
    // Two that come together are counted twice for a moment: the repository may seem to be full by then.
    for (const { stderr } of refused)
      expect(stderr).toMatch(/would cause it to exceed|has exceeded/)
    const taken = sizes.filter((_, at) => pushed[at]?.code === 0)
    expect(taken.length).toBeGreaterThan(0)
    expect(taken.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MEBIBYTE)
    const { body } = await ana.get(`/projects/${id}/repository/branches?per_page=100`)
    expect(body).toHaveLength(1 + taken.length)
    // What was refused keeps no place.
    const again = await cloneWith(path, 1000)
    expect((await push(again, 'later')).code).toBe(0)
  })

  test('commits of the API', async () => {
    const { id } = await project({ initialize_with_readme: true })
    await limit(1)
    const made = await Promise.all(
      [1, 2, 3, 4].map((at) =>
        ana.post(`/projects/${id}/repository/files/${at}`, {
          branch: `branch-${at}`,
          start_branch: 'main',
          commit_message: 'Add',
          encoding: 'base64',
          content: randomBytes(300_000).toString('base64'),
        }),
      ),
    )
    expect(made.map(({ status }) => status).sort()).toEqual(expect.arrayContaining([201, 400]))
    expect(made.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(3)
    const refused = made.find(({ status }) => status === 400)
    expect(refused?.body.message).toMatch(/^Your changes could not be committed, because .* exceed/)
  })

  test('large files', async () => {
    const { path } = await project({ initialize_with_readme: true })
    await limit(1)
    const lfs = `${world.url}/${path}.git/${world.ctx.config.vendor.lfsFolders[0]}`
    const authorization = `Basic ${Buffer.from(`ana:${ana.token}`).toString('base64')}`
    const put = async () => {
      const body = randomBytes(400_000)
      const oid = createHash('sha256').update(body).digest('hex')
      const headers = { authorization, 'content-type': 'application/octet-stream' }
      return (await fetch(`${lfs}/${oid}/${body.length}`, { method: 'PUT', headers, body })).status
    }
    const statuses = await Promise.all([put(), put(), put(), put(), put()])
    expect(statuses.sort()).toEqual([200, 200, 406, 406, 406])
  })
})

describe('a wiki is held to the limit by itself', () => {
  test('in pushes', async () => {
    const { id, path } = await project()
    expect((await ana.post(`/projects/${id}/wikis`, { title: 'a', content: 'x' })).status).toBe(201)
    const folder = await cloneWith(`${path}.wiki`, 1.5 * MEBIBYTE, 'picture.png')
    const branch = await gitClient(folder, ['branch', '--show-current'])
    await limit(1)
    expect((await push(folder, branch)).stderr).toContain(tooMuch)
    await world.root.put(`/projects/${id}`, { repository_size_limit: 10 })
    expect((await push(folder, branch)).code).toBe(0)
  })

  test('in edits and attachments, and pages may still be removed', async () => {
    const { id } = await project()
    await limit(1)
    const page = (title: string, bytes: number) =>
      ana.post(`/projects/${id}/wikis`, { title, content: text(bytes) })
    const refused = await page('large', 1.2 * MEBIBYTE)
    expect([refused.status, refused.body.message]).toEqual([400, notCommitted])
    expect((await page('small', 1000)).status).toBe(201)
    const form = new FormData()
    form.set('file', new Blob([randomBytes(1.2 * MEBIBYTE)]), 'a.png')
    const attached = await ana.post(`/projects/${id}/wikis/attachments`, undefined, { raw: form })
    expect([attached.status, attached.body.message]).toEqual([400, notCommitted])
    expect((await ana.delete(`/projects/${id}/wikis/small`)).status).toBe(204)
  })

  test('of a group, to that of the group', async () => {
    const group = await createGroup(ana, 'wide')
    await limit(1)
    await world.root.put(`/groups/${group.id}`, { repository_size_limit: 5 })
    const page = { title: 'large', content: text(1.2 * MEBIBYTE) }
    expect((await ana.post(`/groups/${group.id}/wikis`, page)).status).toBe(201)
    await world.root.put(`/groups/${group.id}`, { repository_size_limit: null })
    const refused = await ana.post(`/groups/${group.id}/wikis`, { ...page, title: 'other' })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('Your changes could not be committed')
  })
})

test('a snippet is held to the limit by itself, in edits and in pushes', async () => {
  const { id: projectId } = await project()
  for (const at of ['/snippets', `/projects/${projectId}/snippets`]) {
    await limit(0)
    const files = (bytes: number) => [{ file_path: 'a.txt', content: text(bytes) }]
    const made = await ana.post(at, { title: 'S', visibility: 'private', files: files(10) })
    expect(made.status).toBe(201)
    const { id } = made.body
    const path = at === '/snippets' ? `snippets/${id}` : `ana/room-${count}/snippets/${id}`
    const folder = await cloneWith(path, 1.5 * MEBIBYTE, 'b.bin')
    await limit(1)
    const refused = await ana.post(at, {
      title: 'Large',
      visibility: 'private',
      files: files(1.2 * MEBIBYTE),
    })
    expect([refused.status, refused.body.message]).toEqual([400, notCommitted])
    expect((await push(folder, 'main')).stderr).toContain(tooMuch)
  }
})

describe('what the server fetches is held to it', () => {
  test('a project from an address', async () => {
    const { path } = await project({ initialize_with_readme: true })
    await push(await cloneWith(path, 1.5 * MEBIBYTE), 'main')
    await limit(1)
    const fromThere = async () => {
      const { id } = await project({ import_url: urlOf(path) })
      await world.runTasks()
      return (await ana.get(`/projects/${id}`)).body
    }
    expect(await fromThere()).toMatchObject({
      import_status: 'failed',
      import_error: notTaken,
      empty_repo: true,
    })
    await limit(10)
    expect(await fromThere()).toMatchObject({ import_status: 'finished', empty_repo: false })
  })

  test('a mirror, which goes on when there is room', async () => {
    const source = await project({ initialize_with_readme: true })
    const copy = await project()
    const at = `/projects/${copy.id}/mirror/pull`
    await limit(1)
    expect((await ana.put(at, { url: urlOf(source.path), enabled: true })).status).toBe(200)
    await world.runTasks()
    expect((await ana.get(at)).body.update_status).toBe('finished')
    await limit(0)
    await push(await cloneWith(source.path, 1.5 * MEBIBYTE), 'more')
    await limit(1)
    await ana.post(at)
    await world.runTasks()
    expect((await ana.get(at)).body).toMatchObject({
      update_status: 'failed',
      last_error: notTaken,
    })
    await limit(10)
    world.setNow('2026-05-04T11:00:00.000Z')
    await ana.post(at)
    await world.runTasks()
    expect((await ana.get(at)).body).toMatchObject({ update_status: 'finished', last_error: null })
  })

  test('an archive', async () => {
    const { id, path } = await project({ initialize_with_readme: true })
    await push(await cloneWith(path, 1.5 * MEBIBYTE), 'main')
    await ana.post(`/projects/${id}/export`)
    await world.runTasks()
    const file = await fetch(`${world.url}/api/v4/projects/${id}/export/download`, {
      headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
    })
    const archive = new Blob([await file.arrayBuffer()])
    await limit(1)
    const form = new FormData()
    form.set('path', `archived-${count}`)
    form.set('file', archive, 'export.tar.gz')
    const made = await ana.post('/projects/import', undefined, { raw: form })
    await world.runTasks()
    expect((await ana.get(`/projects/${made.body.id}/import`)).body).toMatchObject({
      import_status: 'failed',
      import_error: notTaken,
    })
  })
})
