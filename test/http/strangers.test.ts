import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { gitClient, openClientFolders } from '../support/git-client.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const eve = useCaller(world, 'eve')
beforeAll(async () => {
  await createProject(ana, 'hidden', { initialize_with_readme: true })
})

describe('what a client says of itself', () => {
  test('an address in a header is not believed without a proxy that is trusted', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9' }
    await ana.get('/user', { headers })
    const row = await world.ctx.db
      .selectFrom('access_tokens')
      .select('last_used_ips')
      .where('user_id', '=', ana.id)
      .executeTakeFirstOrThrow()
    expect(row.last_used_ips).toContain('127.0.0.1')
    expect(row.last_used_ips).not.toContain('203.0.113.9')
  })

  test('a host or scheme in a header changes no link', async () => {
    const headers = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' }
    const { body, headers: answered } = await ana.get('/projects?per_page=1', { headers })
    expect(JSON.stringify(body)).not.toContain('evil.example')
    expect(answered.get('link')).not.toContain('evil.example')
  })
})

describe('a page of somebody else', () => {
  test('may not read answers, nor ask whether it may', async () => {
    const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'DELETE' }
    const asked = await ana.call('OPTIONS', '/projects', undefined, { headers })
    expect(asked.headers.get('access-control-allow-origin')).toBeNull()
    const read = await ana.get('/projects', { headers: { Origin: 'https://evil.example' } })
    expect(read.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('may not send JSON as text, which needs no permission of a browser', async () => {
    const raw = JSON.stringify({ name: 'smuggled' })
    const headers = { 'Content-Type': 'text/plain' }
    expect((await ana.post('/projects', undefined, { raw, headers })).status).toBe(415)
  })

  test('gains nothing from a cookie', async () => {
    const headers = { Cookie: 'session=anything; _svc_session=anything' }
    expect((await world.nobody.get('/user', { headers })).status).toBe(401)
  })
})

describe('a hidden project', () => {
  test('looks like one that does not exist, whatever is asked of it', async () => {
    const { id } = (await ana.get('/projects/ana%2Fhidden')).body
    for (const path of ['', '/issues', '/repository/tree', '/members/all', '/hooks', '/releases']) {
      for (const caller of [eve, world.nobody]) {
        const there = await caller.get(`/projects/${id}${path}`)
        const nowhere = await caller.get(`/projects/999999${path}`)
        expect([there.status, there.body]).toEqual([nowhere.status, nowhere.body])
      }
    }
  })

  test('is gone for everybody once it is deleted, also for whoever is cloning it', async () => {
    const folders = openClientFolders()
    const { id } = (await ana.post('/projects', { name: 'leaving', initialize_with_readme: true }))
      .body
    const remote = `${world.url.replace('://', `://ana:${ana.token}@`)}/ana/leaving.git`
    const folder = await folders.folder()
    await gitClient(folder, ['clone', '-q', remote, 'before'])
    const clones = Array.from({ length: 5 }, (_, index) =>
      gitClient(folder, ['clone', '-q', remote, `during-${index}`]).catch(() => 'refused'),
    )
    await ana.delete(`/projects/${id}`)
    await Promise.all(clones)
    await ana.delete(`/projects/${id}?permanently_remove=true`)
    await world.runTasks()
    expect((await ana.get(`/projects/${id}`)).status).toBe(404)
    expect((await ana.get(`/projects/${id}/repository/tree`)).status).toBe(404)
    await expect(gitClient(folder, ['clone', '-q', remote, 'after'])).rejects.toThrow(/not found/)
    expect(await world.ctx.git.exists(id)).toBe(false)
    await folders.clear()
  })
})

test('a cursor that was changed, or belongs to another list, is refused and shows nothing', async () => {
  for (const name of ['one', 'two', 'three']) await ana.post('/projects', { name })
  const list = '/projects?pagination=keyset&order_by=id&sort=asc&per_page=1'
  const { headers } = await ana.get(list)
  const cursor = /cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] ?? ''
  expect(cursor).not.toBe('')
  expect((await ana.get(`${list}&cursor=${cursor}`)).status).toBe(200)
  const other = list.replace('sort=asc', 'sort=desc')
  const forged = Buffer.from('{"id":"0 OR 1=1","_o":"id asc"}').toString('base64url')
  for (const path of [
    `${other}&cursor=${cursor}`,
    `${list}&cursor=${cursor.slice(0, -4)}`,
    `${list}&cursor=%00`,
    `${list}&cursor[]=a`,
    `/users?pagination=keyset&order_by=username&cursor=${cursor}`,
  ]) {
    expect([path, (await ana.get(path)).status]).toEqual([path, 400])
  }
  const { status, body } = await eve.get(`${list}&cursor=${forged}`)
  expect([status, body]).toEqual([400, { error: 'cursor is invalid' }])
})
