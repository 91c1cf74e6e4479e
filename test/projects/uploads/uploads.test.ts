import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let project: { id: number; path_with_namespace: string }
beforeAll(async () => {
  project = await createProject(ana, 'papers')
})

const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001', 'hex')

async function upload(name: string, content: string | Buffer, caller = ana) {
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(Buffer.from(content))]), name)
  return await caller.post(`/projects/${project.id}/uploads`, undefined, { raw: form })
}

async function fetchAs(caller: Caller | null, path: string) {
  const headers: Record<string, string> = caller?.token ? { 'PRIVATE-TOKEN': caller.token } : {}
  const reply = await fetch(`${world.url}${path}`, { headers })
  return { reply, body: Buffer.from(await reply.arrayBuffer()) }
}

describe('uploads', () => {
  test('answer how to link to them', async () => {
    const { status, body } = await upload('my notes.txt', 'hello')
    expect(status).toBe(201)
    expect(body.url).toMatch(/^\/uploads\/[0-9a-f]{32}\/my_notes\.txt$/)
    expect(body).toEqual({
      id: body.id,
      alt: 'my_notes.txt',
      url: body.url,
      full_path: `/-/project/${project.id}${body.url}`,
      markdown: `[my_notes.txt](${body.url})`,
    })
    const image = await upload('cat.png', png)
    expect(image.body.markdown).toBe(`![cat](${image.body.url})`)
  })

  test('are served by every link to those who may read the project', async () => {
    const { body } = await upload('a.txt', 'content of a')
    const links = [
      body.full_path,
      `/${project.path_with_namespace}${body.url}`,
      `/${project.path_with_namespace}/-${body.url}`,
      `/api/v4/projects/${project.id}${body.url}`,
    ]
    for (const link of links) {
      const own = await fetchAs(ana, link)
      expect([own.reply.status, own.body.toString()]).toEqual([200, 'content of a'])
      expect(own.reply.headers.get('content-disposition')).toContain('attachment')
      expect(own.reply.headers.get('x-content-type-options')).toBe('nosniff')
      for (const caller of [ben, null]) expect((await fetchAs(caller, link)).reply.status).toBe(404)
    }
    expect((await fetchAs(ana, `${body.full_path}x`)).reply.status).toBe(404)
  })

  test('images are shown in place by their bytes, pages and scripts never', async () => {
    const image = await upload('real.png', png)
    const shown = await fetchAs(ana, image.body.full_path)
    expect(shown.reply.headers.get('content-type')).toBe('image/png')
    expect(shown.reply.headers.get('content-disposition')).toContain('inline')
    expect(shown.body.equals(png)).toBe(true)
    for (const name of ['page.html', 'drawing.svg', 'fake.png']) {
      const { body } = await upload(name, '<svg onload="alert(1)"></svg><script>1</script>')
      const { reply } = await fetchAs(ana, body.full_path)
      expect(reply.headers.get('content-type')).toBe('application/octet-stream')
      expect(reply.headers.get('content-disposition')).toContain('attachment')
      expect(reply.headers.get('content-security-policy')).toContain('sandbox')
    }
  })

  test('names are made safe', async () => {
    for (const [name, safe] of [
      ['../../etc/passwd', 'passwd'],
      ['a b<c>.txt', 'a_b_c_.txt'],
      ['.hidden', 'hidden'],
      ['größe.txt', 'größe.txt'],
    ] as const) {
      const { body } = await upload(name, 'x')
      expect(decodeURIComponent(body.url.split('/').at(-1) ?? '')).toBe(safe)
    }
  })

  test('are listed and deleted by maintainers', async () => {
    const { body } = await upload('gone.txt', 'x')
    await ana.post(`/projects/${project.id}/members`, { user_id: ben.id, access_level: 30 })
    expect((await ben.get(`/projects/${project.id}/uploads`)).status).toBe(403)
    const list = await ana.get(`/projects/${project.id}/uploads?per_page=1`)
    expect(list.body).toEqual([
      {
        id: body.id,
        size: 1,
        filename: 'gone.txt',
        created_at: '2026-05-04T10:00:00.000Z',
        uploaded_by: { id: ana.id, name: 'ana', username: 'ana' },
      },
    ])
    expect((await ana.delete(`/projects/${project.id}${body.url}`)).status).toBe(204)
    expect((await ana.get(`/projects/${project.id}/uploads/${body.id}`)).status).toBe(404)
    await ana.delete(`/projects/${project.id}/members/${ben.id}`)
  })

  test('are open to anybody with the link where the project says so', async () => {
    const { body } = await upload('open.txt', 'x')
    await ana.put(`/projects/${project.id}`, { enforce_auth_checks_on_uploads: false })
    expect((await fetchAs(null, body.full_path)).reply.status).toBe(200)
    await ana.put(`/projects/${project.id}`, { enforce_auth_checks_on_uploads: true })
    expect((await fetchAs(null, body.full_path)).reply.status).toBe(404)
  })
})

describe('avatars', () => {
  test('are served at their URL as they were uploaded', async () => {
    const form = new FormData()
    form.set('name', 'Pictured')
    form.set('path', 'pictured')
    form.set('visibility', 'public')
    form.set('avatar', new Blob([png], { type: 'image/png' }), 'team.png')
    const { status, body } = await ana.post('/groups', undefined, { raw: form })
    expect(status).toBe(201)
    const path = body.avatar_url.slice(world.app.config.externalUrl.length)
    const { reply, body: bytes } = await fetchAs(null, path)
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(bytes.equals(png)).toBe(true)
    const byApi = await fetchAs(ana, `/api/v4/groups/${body.id}/avatar`)
    expect([byApi.reply.status, byApi.body.equals(png)]).toEqual([200, true])
    await ana.put(`/groups/${body.id}`, { visibility: 'private' })
    expect((await fetchAs(null, path)).reply.status).toBe(404)
    expect((await fetchAs(ana, path)).reply.status).toBe(200)
  })
})

describe('custom attributes', () => {
  test('are kept by administrators beside users, groups and projects', async () => {
    const { root } = world
    for (const subject of [`users/${ana.id}`, `projects/${project.id}`, 'groups/pictured']) {
      const path = `/${subject}/custom_attributes`
      expect((await root.put(`${path}/room`, { value: '12' })).body).toEqual({
        key: 'room',
        value: '12',
      })
      expect((await root.put(`${path}/room`, { value: '13' })).status).toBe(200)
      expect((await root.get(path)).body).toEqual([{ key: 'room', value: '13' }])
      expect((await root.get(`${path}/room`)).body.value).toBe('13')
      expect((await ana.get(path)).status).toBe(403)
    }
    const found = await root.get('/projects?custom_attributes[room]=13&with_custom_attributes=true')
    expect(found.body[0].custom_attributes).toEqual([{ key: 'room', value: '13' }])
    expect((await root.get('/projects?custom_attributes[room]=12')).body).toEqual([])
    const path = `/users/${ana.id}/custom_attributes/room`
    expect((await root.delete(path)).status).toBe(204)
    expect((await root.delete(path)).status).toBe(404)
  })
})

describe('invitations', () => {
  test('become memberships when the invited address gets an account', async () => {
    const body = { email: 'late@example.com', access_level: 30 }
    await ana.post(`/projects/${project.id}/invitations`, body)
    const made = await world.root.post('/users', {
      email: 'late@example.com',
      name: 'Late',
      username: 'late',
      password: 'a long enough password',
      skip_confirmation: true,
    })
    expect(made.status).toBe(201)
    const member = await ana.get(`/projects/${project.id}/members/${made.body.id}`)
    expect([member.status, member.body.access_level]).toEqual([200, 30])
    expect((await ana.get(`/projects/${project.id}/invitations`)).body).toEqual([])
  })
})
