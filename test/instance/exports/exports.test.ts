import { randomBytes } from 'node:crypto'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let ana: Caller
let ben: Caller
beforeAll(async () => {
  // What is in the works waits for `runTasks`: some tests change things meanwhile.
  world = await openWorld({}, { background: false })
  ana = await world.user('ana')
  ben = await world.user('ben')
  const unlimited = { project_export_limit: 0, project_import_limit: 0, group_import_limit: 0 }
  await world.root.put('/application/settings', unlimited)
})
afterAll(() => world.close())

async function download(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const reply = await fetch(`${world.url}/api/v4${path}`, {
    headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
  })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('content-type')).toBe('application/gzip')
  return new Uint8Array(await reply.arrayBuffer())
}

function form(archive: Uint8Array<ArrayBuffer>, fields: Record<string, string>): FormData {
  const made = new FormData()
  for (const [name, value] of Object.entries(fields)) made.set(name, value)
  made.set('file', new Blob([archive]), 'export.tar.gz')
  return made
}

async function tarOf(files: Record<string, string>): Promise<Uint8Array<ArrayBuffer>> {
  const archive = pack()
  for (const [name, text] of Object.entries(files)) archive.entry({ name }, text)
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive) chunks.push(chunk as Buffer)
  return new Uint8Array(gzipSync(Buffer.concat(chunks)))
}

describe('exporting a project', () => {
  test('gives an archive from which the same project is made again', async () => {
    const source = await createProject(ana, 'source', {
      description: 'To be moved',
      initialize_with_readme: true,
      merge_method: 'ff',
      topics: ['one', 'two'],
    })
    await ana.post(`/projects/${source.id}/labels`, { name: 'bug', color: '#ff0000' })
    await ana.post(`/projects/${source.id}/milestones`, { title: 'v1', due_date: '2026-12-24' })
    await ana.post(`/projects/${source.id}/wikis`, { title: 'docs/home', content: '# Hi' })
    const before = await ana.get(`/projects/${source.id}/export`)
    expect(before.body).toMatchObject({ id: source.id, export_status: 'none' })
    expect((await ana.get(`/projects/${source.id}/export/download`)).status).toBe(404)
    const asked = await ana.post(`/projects/${source.id}/export`)
    expect([asked.status, asked.body]).toEqual([202, { message: '202 Accepted' }])
    await world.runTasks()
    const after = await ana.get(`/projects/${source.id}/export`)
    expect(after.body.export_status).toBe('finished')
    expect(after.body._links.api_url).toContain(`/projects/${source.id}/export/download`)
    const archive = await download(`/projects/${source.id}/export/download`)

    const made = await ana.post('/projects/import', undefined, {
      raw: form(archive, { path: 'copy', 'override_params[visibility]': 'public' }),
    })
    expect([made.status, made.body]).toMatchObject([
      201,
      { path_with_namespace: 'ana/copy', import_status: 'scheduled' },
    ])
    await world.runTasks()
    const status = await ana.get(`/projects/${made.body.id}/import`)
    expect(status.body).toMatchObject({ import_status: 'finished', import_error: null })
    const copy = await ana.get(`/projects/${made.body.id}`)
    expect(copy.body).toMatchObject({
      description: 'To be moved',
      merge_method: 'ff',
      topics: ['one', 'two'],
      visibility: 'public',
      default_branch: 'main',
      empty_repo: false,
    })
    const [one, other] = await Promise.all(
      [source.id, made.body.id].map((id) => ana.get(`/projects/${id}/repository/commits`)),
    )
    expect(one?.body[0].id).toBe(other?.body[0].id)
    const page = await ana.get(`/projects/${made.body.id}/wikis/docs%2Fhome`)
    expect(page.body.content).toBe('# Hi')
    const labels = await ana.get(`/projects/${made.body.id}/labels`)
    expect(labels.body).toMatchObject([{ name: 'bug', color: '#ff0000' }])
    const milestones = await ana.get(`/projects/${made.body.id}/milestones`)
    expect(milestones.body).toMatchObject([{ title: 'v1', due_date: '2026-12-24' }])

    const again = await ana.post('/projects/import', undefined, {
      raw: form(archive, { path: 'copy' }),
    })
    expect(again.status).toBe(400)
    const refused = await ana.post('/projects/import', undefined, {
      raw: form(archive, {
        path: 'copy',
        overwrite: 'true',
        'override_params[description]': 'x'.repeat(2001),
      }),
    })
    expect(refused.status).toBe(400)
    expect((await ana.get(`/projects/${made.body.id}`)).status).toBe(200)
    const over = await ana.post('/projects/import', undefined, {
      raw: form(archive, { path: 'copy', overwrite: 'true' }),
    })
    expect(over.status).toBe(201)
    await world.runTasks()
    expect((await ana.get(`/projects/${made.body.id}`)).status).toBe(404)
    const { body: taken } = await ana.get('/projects/ana%2Fcopy')
    expect(taken).toMatchObject({ id: over.body.id, name: 'copy', import_status: 'finished' })
    const waitedAt = encodeURIComponent(over.body.path_with_namespace)
    expect((await ana.get(`/projects/${waitedAt}`)).status).toBe(404)
  })

  test('makes a project as visible as it was, where that is allowed', async () => {
    const source = await createProject(ana, 'open', { visibility: 'public' })
    await ana.post(`/projects/${source.id}/export`)
    await world.runTasks()
    const archive = await download(`/projects/${source.id}/export/download`)
    await createGroup(ana, 'closed', { visibility: 'internal' })
    const visibility = async (fields: Record<string, string>, by = ana) => {
      const raw = form(archive, fields)
      const made = await by.post('/projects/import', undefined, { raw })
      await world.runTasks()
      const { body } = await by.get(`/projects/${made.body.id}`)
      return [body.import_status, body.visibility]
    }
    expect(await visibility({ path: 'as-it-was' })).toEqual(['finished', 'public'])
    const place = { path: 'in-group', namespace: 'closed' }
    expect(await visibility(place)).toEqual(['finished', 'internal'])
    const wish = { path: 'as-wished', 'override_params[visibility]': 'private' }
    expect(await visibility(wish)).toEqual(['finished', 'private'])
    const shown = { path: 'shown', 'override_params[visibility]': 'public' }
    expect(await visibility(shown)).toEqual(['finished', 'public'])
    // Until it is filled only its members see it.
    const { details } = await world.ctx.db
      .selectFrom('audit_events')
      .innerJoin('projects', 'projects.id', 'audit_events.entity_id')
      .select('audit_events.details')
      .where('projects.path', '=', 'shown')
      .where('audit_events.details', 'like', '%"visibility":%')
      .executeTakeFirstOrThrow()
    expect(JSON.parse(details).visibility).toBe('private → public')
    const high = form(archive, { ...place, path: 'high', 'override_params[visibility]': 'public' })
    expect((await ana.post('/projects/import', undefined, { raw: high })).status).toBe(400)
    const restrict = (levels: string[]) =>
      world.root.put('/application/settings', { restricted_visibility_levels: levels })
    await restrict(['public'])
    expect(await visibility({ path: 'restricted' })).toEqual(['finished', 'internal'])
    expect(await visibility({ path: 'by-root' }, world.root)).toEqual(['finished', 'public'])
    await restrict([])
  })

  test('is for maintainers, and ends after a day', async () => {
    const { id } = await createProject(ana, 'mine', { visibility: 'public' })
    expect((await ben.post(`/projects/${id}/export`)).status).toBe(403)
    await ana.post(`/projects/${id}/export`)
    await world.runTasks()
    await download(`/projects/${id}/export/download`)
    world.setNow('2026-05-06T10:00:00.000Z')
    await world.runTasks()
    expect((await ana.get(`/projects/${id}/export`)).body.export_status).toBe('none')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('that somebody has put into a package is there after its day is over', async () => {
    const { id } = await createProject(ana, 'kept')
    await ana.post(`/projects/${id}/export`)
    await world.runTasks()
    const archive = await download(`/projects/${id}/export/download`)
    const at = `/projects/${id}/packages/generic/backup/1.0/export.tar.gz`
    expect((await ana.put(at, undefined, { raw: archive })).status).toBe(201)
    const { file } = await world.ctx.db
      .selectFrom('exports')
      .select('file')
      .where('source_id', '=', id)
      .executeTakeFirstOrThrow()
    const stored = new Date(world.ctx.now())
    await utimes(world.ctx.files.pathOf(String(file)), stored, stored)
    world.setNow('2026-05-08T10:00:00.000Z')
    await world.runTasks()
    world.setNow('2026-05-04T10:00:00.000Z')
    expect((await ana.get(`/projects/${id}/export`)).body.export_status).toBe('none')
    expect(await download(at)).toEqual(archive)
  })

  test.each([
    ['noise', async () => new Uint8Array(randomBytes(2000))],
    ['an archive of something else', () => tarOf({ 'project.json': '{"form":"x"}' })],
    ['one that climbs out', () => tarOf({ '../../project.json': '{}', '/etc/passwd': 'x' })],
    [
      'a broken bundle',
      () =>
        tarOf({
          'project.json': JSON.stringify({
            form: 'gitstead-export-1',
            name: 'x',
            description: null,
            visibility: 'private',
            default_branch: 'main',
            topics: [],
            settings: { merge_method: 'nonsense', unknown: 1 },
            labels: [],
            milestones: [],
          }),
          'project.bundle': 'no bundle',
        }),
    ],
  ])('%s as an archive fails with a reason', async (name, archive) => {
    const path = `bad-${name.replaceAll(' ', '-')}`
    const made = await ana.post('/projects/import', undefined, {
      raw: form(await archive(), { path }),
    })
    expect(made.status).toBe(201)
    await world.runTasks()
    const status = await ana.get(`/projects/${made.body.id}/import`)
    expect(status.body.import_status).toBe('failed')
    expect(status.body.import_error).not.toBe('')
  })
})

describe('an import that replaces a project', () => {
  test('leaves the old one as it was until it has succeeded, and for good when it fails', async () => {
    const old = await createProject(ana, 'kept one', { path: 'kept-one' })
    const made = await ana.post('/projects/import', undefined, {
      raw: form(await tarOf({ 'project.json': 'x' }), { path: 'kept-one', overwrite: 'true' }),
    })
    expect(made.status).toBe(201)
    expect((await ana.get('/projects/ana%2Fkept-one')).body.id).toBe(old.id)
    await world.runTasks()
    const { body: failed } = await ana.get(`/projects/${made.body.id}/import`)
    expect(failed.import_status).toBe('failed')
    expect(failed.import_error).toContain('not an export')
    const { body: still } = await ana.get('/projects/ana%2Fkept-one')
    expect(still).toMatchObject({ id: old.id, name: 'kept one' })
  })

  test('asks again in the end whether it may', async () => {
    const group = await createGroup(ana, 'shared')
    await ana.post(`/groups/${group.id}/members`, { user_id: ben.id, access_level: 50 })
    const old = await createProject(ana, 'ours', { namespace_id: group.id })
    await ana.post(`/projects/${old.id}/export`)
    await world.runTasks()
    const archive = await download(`/projects/${old.id}/export/download`)
    const raw = () => form(archive, { path: 'ours', namespace: 'shared', overwrite: 'true' })
    const made = await ben.post('/projects/import', undefined, { raw: raw() })
    expect(made.status).toBe(201)
    await ana.put(`/groups/${group.id}/members/${ben.id}`, { access_level: 30 })
    await world.runTasks()
    const { body: failed } = await ana.get(`/projects/${made.body.id}/import`)
    expect(failed.import_status).toBe('failed')
    expect((await ana.get('/projects/shared%2Fours')).body.id).toBe(old.id)
    const refused = await ben.post('/projects/import', undefined, { raw: raw() })
    expect(refused.status).toBe(400)
  })

  test('is refused when another project has its name', async () => {
    await createProject(ana, 'first')
    await createProject(ana, 'second')
    const raw = form(await tarOf({}), { path: 'first', name: 'second', overwrite: 'true' })
    const refused = await ana.post('/projects/import', undefined, { raw })
    expect([refused.status, refused.body.message]).toEqual([
      400,
      { name: ['has already been taken'] },
    ])
  })
})

test('an import and an export that the server cannot finish end as failed, with a reason', async () => {
  const idle = await openWorld({}, { background: false })
  try {
    const cay = await idle.user('cay')
    const source = await createProject(cay, 'unlucky')
    const raw = form(await tarOf({}), { path: 'unlucky-copy' })
    const { body: made } = await cay.post('/projects/import', undefined, { raw })
    await cay.post(`/projects/${source.id}/export`)
    const scratch = join(idle.folder, 'tmp')
    await rm(scratch, { recursive: true, force: true })
    await writeFile(scratch, 'no folder')
    for (const minute of [0, 1, 2]) {
      idle.setNow(`2026-05-04T10:0${minute}:00.000Z`)
      await idle.runTasks()
    }
    const { body: status } = await cay.get(`/projects/${made.id}/import`)
    expect(status.import_status).toBe('failed')
    expect(status.import_error).toContain('the server could not finish it')
    expect(status.import_error).not.toContain(idle.folder)
    const { status: kept } = await idle.ctx.db
      .selectFrom('exports')
      .select('status')
      .where('source_id', '=', source.id)
      .executeTakeFirstOrThrow()
    expect(kept).toBe('failed')
  } finally {
    await idle.close()
  }
})

describe('exporting a group', () => {
  test('gives an archive with the groups below it', async () => {
    const top = await createGroup(ana, 'top')
    const sub = await createGroup(ana, 'sub', { parent_id: top.id, description: 'Below' })
    await ana.post(`/groups/${sub.id}/labels`, { name: 'shared', color: '#00ff00' })
    expect((await ana.post(`/groups/${top.id}/export`)).status).toBe(202)
    await world.runTasks()
    const archive = await download(`/groups/${top.id}/export/download`)
    const made = await ana.post('/groups/import', undefined, {
      raw: form(archive, { name: 'Again', path: 'again' }),
    })
    expect([made.status, made.body]).toEqual([202, { message: '202 Accepted' }])
    await world.runTasks()
    const copy = await ana.get('/groups/again%2Fsub')
    expect(copy.body).toMatchObject({ full_name: 'Again / Sub', description: 'Below' })
    const labels = await ana.get('/groups/again%2Fsub/labels?include_ancestor_groups=false')
    expect(labels.body).toMatchObject([{ name: 'shared' }])
    const bad = await ana.post('/groups/import', undefined, {
      raw: form(await tarOf({ x: 'y' }), { name: 'No', path: 'no' }),
    })
    expect(bad.status).toBe(400)
  })
})

describe('importing from an address', () => {
  test('takes branches, tags and the default branch, and never shows a password', async () => {
    const near = await openWorld({ outboundAllow: ['127.0.0.1'] })
    try {
      const cay = await near.user('cay')
      const body = { name: 'there', visibility: 'public', initialize_with_readme: true }
      const { body: there } = await cay.post('/projects', { ...body, default_branch: 'trunk' })
      const address = new URL(`${near.url}/cay/there.git`)
      address.username = 'cay'
      address.password = cay.token ?? ''
      const made = await cay.post('/projects', { name: 'here', import_url: address.href })
      expect([made.status, made.body.import_status]).toEqual([201, 'scheduled'])
      expect(made.body.import_url).toBe(`${near.url}/cay/there.git`)
      await near.runTasks()
      const done = await cay.get(`/projects/${made.body.id}`)
      expect(done.body).toMatchObject({
        import_status: 'finished',
        import_error: null,
        default_branch: 'trunk',
        empty_repo: false,
      })
      const heads = await Promise.all(
        [there.id, made.body.id].map((id) => cay.get(`/projects/${id}/repository/branches/trunk`)),
      )
      expect(heads[0]?.body.commit.id).toBe(heads[1]?.body.commit.id)
      const missing = await createProject(cay, 'none', {
        import_url: `${near.url}/cay/nowhere.git`,
      })
      await near.runTasks()
      const failed = await cay.get(`/projects/${missing.id}/import`)
      expect(failed.body.import_status).toBe('failed')
    } finally {
      await near.close()
    }
  })

  test('an archive at an address needs https, and an address that may be asked', async () => {
    for (const url of ['http://example.org/x.tar.gz', 'https://127.0.0.1/x.tar.gz', 'x']) {
      const reply = await ana.post('/projects/remote-import', { url, path: 'far' })
      expect([url, reply.status]).toEqual([url, 400])
    }
  })

  test('refuses addresses that nobody may ask', async () => {
    for (const url of ['file:///etc', 'ssh://git@example.com/x', 'http://127.0.0.1/x', 'nothing']) {
      const reply = await ana.post('/projects', { name: 'stolen', import_url: url })
      expect([url, reply.status, Object.keys(reply.body.message)]).toEqual([
        url,
        400,
        ['import_url'],
      ])
    }
  })
})
