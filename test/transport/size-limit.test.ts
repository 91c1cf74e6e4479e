import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sizeText } from '../../src/repositories/size-limit/limit.ts'
import { createGroup } from '../support/create.ts'
import {
  type ClientFolders,
  gitClient,
  openClientFolders,
  runGitClient,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'

const world = useWorld()
let folders: ClientFolders
let ana: Caller
let count = 0

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
})
afterAll(() => folders.clear())

const MEBIBYTE = 1024 * 1024
const ask = 'Please contact your administrator for more information.'
const tooMuch = `Your push to this repository would cause it to exceed the size limit of 1 MiB so it has been rejected. ${ask}`

async function pushed(more: { namespace_id?: number } = {}) {
  const { body } = await ana.post('/projects', { name: `sized-${++count}`, ...more })
  const source = await folders.repository()
  const url = `${world.url}/${body.path_with_namespace}.git`.replace('://', `://ana:${ana.token}@`)
  await gitClient(source, ['push', '-q', url, 'main'])
  const push = (...refs: string[]) => runGitClient(source, ['push', url, ...refs])
  return { id: body.id as number, path: `/projects/${body.id}`, source, push }
}

/** Nothing makes random bytes smaller. */
async function commit(folder: string, name: string, size: number) {
  await writeFile(join(folder, name), randomBytes(size))
  await gitClient(folder, ['add', '.'])
  await gitClient(folder, ['commit', '-q', '-m', name])
}

const limit = async (path: string, repository_size_limit: number | null) => {
  const { status } = await world.root.put(path, { repository_size_limit })
  expect(status).toBe(200)
}

describe('the size of a repository', () => {
  test('is limited by the project, else the nearest group, else the instance', async () => {
    const group = await createGroup(ana, 'sized')
    const { path, source, push } = await pushed({ namespace_id: group.id })
    await commit(source, 'large', 1.5 * MEBIBYTE)
    const refused = async () => {
      const { code, stderr } = await push('main')
      expect(code).not.toBe(0)
      // Git wraps nothing, but writes `remote: ` before each line.
      expect(stderr).toContain(tooMuch)
    }
    await limit('/application/settings', 1)
    await refused()
    await limit(`/groups/${group.id}`, 10)
    await limit(path, 1)
    await refused()
    await limit(path, null)
    await limit(`/groups/${group.id}`, 1)
    await refused()
    await limit(path, 0)
    expect((await push('main')).code).toBe(0)
    await limit('/application/settings', 0)
  })

  test('is kept to by pushes large and small, one after the other', async () => {
    const { path, source, push } = await pushed()
    await limit(path, 1)
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await commit(source, name, 190_000)
      expect((await push('main')).code).toBe(0)
    }
    await commit(source, 'f', 190_000)
    expect((await push('main')).stderr).toContain(tooMuch)
    await gitClient(source, ['reset', '-q', '--hard', 'HEAD~1'])
    await commit(source, 'g', 20_000)
    expect((await push('main')).code).toBe(0)
  })

  test('of one that holds more allows no push but a deletion', async () => {
    const { id, path, source, push } = await pushed()
    await commit(source, 'large', 1.5 * MEBIBYTE)
    expect((await push('main', 'main:gone')).code).toBe(0)
    await world.ctx.db
      .updateTable('projects')
      .set({ repository_size: 1.5 * MEBIBYTE })
      .where('id', '=', id)
      .execute()
    await limit(path, 1)
    await commit(source, 'small', 10)
    expect((await push('main')).stderr).toContain(
      `Your push has been rejected, because this repository has exceeded its size limit of 1 MiB by 512 KiB. ${ask}`,
    )
    expect((await push(':gone')).code).toBe(0)
    const branch = { branch: 'other', ref: 'main' }
    expect((await ana.post(`${path}/repository/branches`, branch)).status).toBe(201)
    const file = { branch: 'main', commit_message: 'Add', content: 'x' }
    const made = await ana.post(`${path}/repository/files/x`, file)
    expect([made.status, made.body]).toEqual([
      400,
      {
        message: expect.stringMatching(
          /^Your changes could not be committed, because this repository has exceeded its size limit of 1 MiB by 51\d[.\d]* KiB$/,
        ),
      },
    ])
  })

  test('is kept to by commits of the API', async () => {
    const { path } = await pushed()
    await limit(path, 1)
    const commitOf = (bytes: number) => ({
      branch: 'main',
      commit_message: 'Add',
      actions: [
        {
          action: 'create',
          file_path: `f${bytes}`,
          encoding: 'base64',
          content: randomBytes(bytes).toString('base64'),
        },
      ],
    })
    const refused = await ana.post(`${path}/repository/commits`, commitOf(MEBIBYTE))
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        message:
          'Your changes could not be committed, because they would cause this repository to exceed its size limit of 1 MiB',
      },
    ])
    // What was refused takes no room.
    expect((await ana.post(`${path}/repository/commits`, commitOf(900_000))).status).toBe(201)
    expect((await ana.post(`${path}/repository/commits`, commitOf(200_000))).status).toBe(400)
  })

  test('counts large files, which are refused before they are sent, and when they are', async () => {
    const { id, path } = await pushed()
    await limit(path, 1)
    const { body } = await ana.get(path)
    const lfs = `${world.url}/${body.path_with_namespace}.git`
    const authorization = `Basic ${Buffer.from(`ana:${ana.token}`).toString('base64')}`
    const headers = { authorization, 'content-type': 'application/vnd.git-lfs+json' }
    const batch = async (...sizes: number[]) => {
      const objects = sizes.map((size) => ({ oid: randomBytes(32).toString('hex'), size }))
      const answer = await fetch(`${lfs}/info/lfs/objects/batch`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ operation: 'upload', objects }),
      })
      return { status: answer.status, body: await answer.json() }
    }
    expect((await batch(400_000, 400_000)).status).toBe(200)
    expect(await batch(600_000, 600_000)).toMatchObject({ status: 406, body: { message: tooMuch } })
    await world.ctx.db
      .insertInto('lfs_objects')
      .values({ project_id: id, oid: 'a'.repeat(64), size: 900_000, created_at: world.ctx.now() })
      .execute()
    expect((await batch(400_000)).status).toBe(406)
    const folder = world.ctx.config.vendor.lfsFolders[0]
    const put = await fetch(`${lfs}/${folder}/${'b'.repeat(64)}/400000`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/octet-stream' },
      body: Buffer.alloc(400_000),
    })
    expect([put.status, await put.json()]).toMatchObject([406, { message: tooMuch }])
  })

  test('is set by administrators alone, and sent back by anybody', async () => {
    const group = await createGroup(ana, 'fixed')
    const { path } = await pushed()
    for (const place of [path, `/groups/${group.id}`]) {
      const refused = await ana.put(place, { repository_size_limit: 0 })
      expect([refused.status, refused.body]).toEqual([
        403,
        { message: '403 Forbidden - repository_size_limit is set by administrators' },
      ])
      await limit(place, 5)
      const kept = await ana.put(place, { repository_size_limit: 5, description: 'kept' })
      expect([kept.status, kept.body.repository_size_limit]).toEqual([200, 5])
      expect((await ana.put(place, { repository_size_limit: null })).status).toBe(403)
    }
    const own = { name: 'own', path: 'own', repository_size_limit: 0 }
    expect((await ana.post('/projects', own)).status).toBe(403)
    expect((await ana.post('/groups', own)).status).toBe(403)
  })
})

test.each([
  [0, '0 Bytes'],
  [1023, '1023 Bytes'],
  [1536, '1.5 KiB'],
  [1024 ** 3, '1 GiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
