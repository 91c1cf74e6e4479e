import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let path: string
let otherPath: string
let groupPath: string
beforeAll(async () => {
  const open = { visibility: 'public' }
  path = `/projects/${(await createProject(ana, 'papers', open)).id}`
  otherPath = `/projects/${(await createProject(ana, 'other')).id}`
  groupPath = `/groups/${(await createGroup(ana, 'pictured', open)).id}`
})

function upload(
  content: string | Uint8Array<ArrayBuffer>,
  caller = ana,
  to = path,
  name = 'a.txt',
) {
  const form = new FormData()
  form.set('file', new Blob([content]), name)
  return caller.post(`${to}/uploads`, undefined, { raw: form })
}

function picture(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  bytes.set(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  return bytes
}

function setAvatar(to: string, bytes: Uint8Array<ArrayBuffer>, name: string, caller = ana) {
  const form = new FormData()
  form.set('avatar', new Blob([bytes]), name)
  return caller.put(to, undefined, { raw: form })
}

describe('an uploaded file', () => {
  test('is no larger than the instance allows', async () => {
    await world.root.put('/application/settings', { max_attachment_size: 1 })
    const fits = await upload('x'.repeat(1024 * 1024))
    expect(fits.status).toBe(201)
    const over = await upload('x'.repeat(1024 * 1024 + 1))
    expect([over.status, over.body]).toEqual([413, { message: '413 Request Entity Too Large' }])
    expect((await ana.get(`${path}/uploads`)).body).toMatchObject([{ size: 1024 * 1024 }])
    await world.root.put('/application/settings', { max_attachment_size: 100 })
  })

  test('may be empty, and is still a file', async () => {
    const { status, body } = await upload('', ana, path, 'empty.txt')
    expect(status).toBe(201)
    const shown = await ana.get(`${path}/uploads/${body.id}`)
    expect([shown.status, shown.body, shown.headers.get('content-length')]).toEqual([200, '', '0'])
  })

  test.each([
    ['nothing', undefined, 'file is missing'],
    ['a text', { file: 'not a file' }, 'file is invalid'],
    ['null', { file: null }, 'file is missing'],
  ])('is not made of %s', async (_, body, error) => {
    const reply = await ana.post(`${path}/uploads`, body)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('comes from whoever is signed in and sees the project', async () => {
    expect((await upload('x', ben)).status).toBe(201)
    expect((await upload('x', world.nobody)).status).toBe(401)
    expect((await upload('x', ben, otherPath)).status).toBe(404)
    await ana.post(`${otherPath}/members`, { user_id: ben.id, access_level: 10 })
    expect((await upload('x', ben, otherPath)).status).toBe(201)
    await ana.delete(`${otherPath}/members/${ben.id}`)
  })

  test('is found in its own project alone, by its own name alone', async () => {
    const { body } = await upload('mine', ana, otherPath, 'mine.txt')
    const secret = body.url.split('/')[2]
    expect((await ana.get(`${otherPath}${body.url}`)).body).toBe('mine')
    const wrong = [
      `${path}${body.url}`,
      `${path}/uploads/${body.id}`,
      `${otherPath}/uploads/${secret}/other.txt`,
      `${otherPath}/uploads/${'0'.repeat(32)}/mine.txt`,
      `${otherPath}/uploads/999999`,
    ]
    for (const one of wrong) {
      expect((await ana.get(one)).status).toBe(404)
      expect((await ana.delete(one)).status).toBe(404)
    }
    expect((await ana.get(`${otherPath}${body.url}`)).body).toBe('mine')
  })

  test.each([
    ['delete', 'by its id', (one: { id: number; url: string }) => `/uploads/${one.id}`],
    ['delete', 'by its link', (one: { id: number; url: string }) => one.url],
  ] as const)('is for maintainers to %s %s', async (_, __, name) => {
    const { body } = await upload('x')
    const member = await world.user(`m-${body.id}`)
    await ana.post(`${path}/members`, { user_id: member.id, access_level: 30 })
    const one = `${path}${name(body)}`
    expect((await world.nobody.delete(one)).status).toBe(401)
    for (const caller of [ben, member]) expect((await caller.delete(one)).status).toBe(403)
    await ana.put(`${path}/members/${member.id}`, { access_level: 40 })
    expect((await member.delete(one)).status).toBe(204)
    expect((await ana.get(one)).status).toBe(404)
  })

  test('is read by its link by whoever sees the project, by its id by maintainers', async () => {
    const { body } = await upload('x')
    expect((await world.nobody.get(`${path}${body.url}`)).status).toBe(200)
    expect((await world.nobody.get(`${path}/uploads/${body.id}`)).status).toBe(401)
    expect((await ben.get(`${path}/uploads/${body.id}`)).status).toBe(403)
    expect((await ben.get(`${path}/uploads`)).status).toBe(403)
  })

  test('keeps its link when the project moves', async () => {
    const made = await createProject(ana, 'mover', { visibility: 'public' })
    const { body } = await upload('still here', ana, `/projects/${made.id}`)
    await ana.put(`/projects/${made.id}`, { path: 'moved-on' })
    const reply = await world.nobody.get(body.full_path, { host: true })
    expect([reply.status, reply.body]).toEqual([200, 'still here'])
    const byPath = await world.nobody.get(`/ana/moved-on${body.url}`, { host: true })
    expect(byPath.body).toBe('still here')
    await ana.put(`/projects/${made.id}`, { visibility: 'private' })
    expect((await world.nobody.get(body.full_path, { host: true })).status).toBe(404)
  })

  test('of somebody who is gone is listed as nobody’s, or the ghost’s', async () => {
    const leaver = await world.user('leaver')
    const { body } = await upload('left', leaver)
    await world.root.delete(`/users/${leaver.id}`)
    await world.runTasks()
    const list = (await ana.get(`${path}/uploads?per_page=100`)).body
    const row = list.find((one: { id: number }) => one.id === body.id)
    expect([null, 'ghost']).toContain(row.uploaded_by?.username ?? null)
  })
})

describe.each(['project', 'group'] as const)('the avatar of a %s', (kind) => {
  const place = () => (kind === 'project' ? path : groupPath)

  test('is 200 KiB at most', async () => {
    const full = await setAvatar(place(), picture(200 * 1024), 'full.png')
    expect([full.status, full.body.avatar_url]).toEqual([200, expect.stringContaining('full.png')])
    const over = await setAvatar(place(), picture(200 * 1024 + 1), 'over.png')
    expect([over.status, over.body]).toEqual([
      400,
      { message: { avatar: ['is too big (should be at most 200 KiB)'] } },
    ])
    expect((await ana.get(place())).body.avatar_url).toBe(full.body.avatar_url)
  })

  test('is a picture by its bytes, whatever its name says', async () => {
    await setAvatar(place(), picture(100), 'good.png')
    for (const name of ['page.html', 'drawing.svg', 'fake.png']) {
      const reply = await setAvatar(
        place(),
        new Uint8Array(Buffer.from('<svg onload="alert(1)"/>')),
        name,
      )
      expect(reply.status).toBe(400)
      expect(Object.keys(reply.body.message)).toEqual(['avatar'])
    }
    expect((await ana.get(place())).body.avatar_url).toContain('good.png')
  })

  test('is changed by those who change the rest, and seen by those who see it', async () => {
    await setAvatar(place(), picture(120), 'seen.png')
    const member = await world.user(`avatar-${kind}`)
    const least = kind === 'project' ? 40 : 50
    await ana.post(`${place()}/members`, { user_id: member.id, access_level: least - 10 })
    expect((await setAvatar(place(), picture(90), 'x.png', member)).status).toBe(403)
    await ana.put(`${place()}/members/${member.id}`, { access_level: least })
    expect((await setAvatar(place(), picture(90), 'x.png', member)).status).toBe(200)
    const { body } = await ana.get(place())
    const shown = body.avatar_url.slice(world.app.config.externalUrl.length)
    expect((await world.nobody.get(shown, { host: true })).status).toBe(200)
    expect((await world.nobody.get(`${place()}/avatar`)).status).toBe(200)
    await ana.put(place(), { visibility: 'private' })
    expect((await world.nobody.get(shown, { host: true })).status).toBe(404)
    expect((await ben.get(`${place()}/avatar`)).status).toBe(404)
    expect((await member.get(`${place()}/avatar`)).status).toBe(200)
    await ana.put(place(), { visibility: 'public' })
  })

  test('goes with an empty text, and is missed no longer than that', async () => {
    await setAvatar(place(), picture(100), 'gone.png')
    expect((await ana.put(place(), { description: 'x' })).body.avatar_url).toContain('gone.png')
    expect((await ana.put(place(), { avatar: '' })).body.avatar_url).toBeNull()
    const none = await ana.get(`${place()}/avatar`)
    expect([none.status, none.body]).toEqual([404, { message: '404 Not Found' }])
  })
})
