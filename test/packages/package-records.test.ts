import { beforeAll, describe, expect, test } from 'vitest'
import { findProjectByPath } from '../../src/access/find-queries.ts'
import { withProjectRole } from '../../src/access/subjects.ts'
import { findInstallable } from '../../src/packages/registry/find.ts'
import { removePackage } from '../../src/packages/registry/remove.ts'
import { setDeprecated } from '../../src/packages/registry/status.ts'
import { putTag } from '../../src/packages/registry/tags.ts'
import type { PackageStatus } from '../../src/store/schema/packages.ts'
import { createGroup, createProject } from '../support/create.ts'
import { addMember } from '../support/members.ts'
import { addRunner, type GivenJob, type TestRunner } from '../support/runner.ts'
import { useCaller, useWorld } from '../support/world.ts'
import { publishNpm, putGeneric, putMaven, uploadPypi } from './publishing.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let at: string

beforeAll(async () => {
  groupId = (await createGroup(ana, 'acme')).id
  projectId = (await createProject(ana, 'p', { namespace_id: groupId })).id
  at = `/projects/${projectId}/packages`
})

interface PackageFile {
  readonly id: number
  readonly package_id: number
  readonly file: { readonly url: string }
}

/** Publishes a file of a generic package; gives its record. */
async function publish(path: string, raw = 'bytes', place = at): Promise<PackageFile> {
  const sent = await putGeneric(ana, place, `${path}?select=package_file`, raw)
  expect(sent.status).toBe(200)
  return sent.body
}

async function setStatus(id: number, status: PackageStatus) {
  await world.ctx.db.updateTable('packages').set({ status }).where('id', '=', id).execute()
}

async function rowsOf(table: 'packages' | 'package_files', name: string): Promise<number> {
  const query =
    table === 'packages'
      ? world.ctx.db.selectFrom('packages').select('id').where('name', '=', name)
      : world.ctx.db
          .selectFrom('package_files')
          .innerJoin('packages', 'packages.id', 'package_files.package_id')
          .select('package_files.id')
          .where('packages.name', '=', name)
  return (await query.execute()).length
}

describe('a package in each status', () => {
  const expected: Readonly<
    Record<PackageStatus, readonly [shown: number, files: number, download: number, byName: number]>
  > = {
    default: [200, 200, 200, 200],
    deprecated: [200, 200, 200, 200],
    hidden: [404, 200, 200, 200],
    processing: [404, 200, 404, 404],
    error: [404, 200, 404, 404],
    pending_destruction: [404, 404, 404, 404],
  }

  test.each(Object.entries(expected))(
    '%s is shown, has files and is downloaded as that says',
    async (status, wanted) => {
      const { package_id: id, id: file } = await publish(`in-${status}/1/f`)
      await setStatus(id, status as PackageStatus)
      const statuses = await Promise.all(
        [
          `/${id}`,
          `/${id}/package_files`,
          `/${id}/package_files/${file}/download`,
          `/generic/in-${status}/1/f`,
        ].map(async (path) => (await ana.get(at + path)).status),
      )
      expect(statuses).toEqual(wanted)
      const pipelines = await ana.get(`${at}/${id}/pipelines`)
      expect(pipelines.status).toBe(wanted[0])
    },
  )

  test('that is faulty, hidden or being checked is deleted as any other', async () => {
    for (const status of ['hidden', 'processing', 'error', 'deprecated'] as const) {
      const { package_id: id } = await publish(`gone-${status}/1/f`)
      await setStatus(id, status)
      expect([status, (await ana.delete(`${at}/${id}`)).status]).toEqual([status, 204])
      expect((await ana.delete(`${at}/${id}`)).status).toBe(404)
    }
  })
})

describe('one package', () => {
  test('is shown with everything that is known of it', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const { package_id: id } = await publish('whole/1.0/f')
    const second = await publish('whole/2.0/f')
    const links = {
      web_path: `/acme/p/-/packages/${id}`,
      delete_api_path: `${world.ctx.config.externalUrl}/api/v4${at}/${id}`,
    }
    const shown = {
      id,
      name: 'whole',
      version: '1.0',
      package_type: 'generic',
      status: 'default',
      _links: links,
      created_at: '2026-05-04T10:00:00.000Z',
      pipelines: [],
      tags: [],
    }
    const { status, body } = await ana.get(`${at}/${id}`)
    expect([status, body]).toEqual([
      200,
      {
        ...shown,
        last_downloaded_at: null,
        versions: [
          {
            id: second.package_id,
            version: '2.0',
            created_at: '2026-05-04T10:00:00.000Z',
            tags: [],
            pipelines: [],
          },
        ],
      },
    ])
    const listed = await ana.get(`${at}?package_name=whole&package_version=1.0`)
    expect(listed.body).toEqual([shown])
    const inGroup = await ana.get('/groups/acme/packages?package_name=whole&package_version=1.0')
    expect(inGroup.body).toEqual([{ ...shown, project_id: projectId, project_path: 'acme/p' }])
  })

  test('lists the other versions of its name, compared as its format compares names', async () => {
    await uploadPypi(ana, at, { name: 'Same.Name', version: '1.0' })
    await uploadPypi(ana, at, { name: 'same_name', version: '2.0' })
    await uploadPypi(ana, at, { name: 'same-name-more', version: '3.0' })
    const rows = (await ana.get(`${at}?package_type=pypi&package_name=same&order_by=version`)).body
    const { body } = await ana.get(`${at}/${rows[0].id}`)
    expect(body.versions.map((one: { id: number }) => one.id)).toEqual([rows[1].id])
    // Names of npm differ by every letter.
    await publishNpm(ana, at, 'case', '1.0.0')
    await publishNpm(ana, at, 'Case', '2.0.0')
    const [npm] = (await ana.get(`${at}?package_type=npm&package_name=case`)).body
    expect((await ana.get(`${at}/${npm.id}`)).body.versions).toEqual([])
  })

  test('shows the tags of its versions with their times', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    await publishNpm(ana, at, 'tags', '1.0.0')
    world.setNow('2026-05-04T10:10:00.000Z')
    const tag = `${at}/npm/-/package/tags/dist-tags/stable`
    await ana.put(tag, undefined, { raw: '"1.0.0"' })
    await publishNpm(ana, at, 'tags', '2.0.0', { tag: 'next' })
    world.setNow('2026-05-04T10:00:00.000Z')
    const [first, second] = (await ana.get(`${at}?package_name=tags&order_by=version`)).body
    const one = (id: number, name: string, time: string) => ({
      id: expect.any(Number),
      package_id: id,
      name,
      created_at: `2026-05-04T${time}.000Z`,
      updated_at: `2026-05-04T${time}.000Z`,
    })
    const tags = [one(first.id, 'latest', '10:00:00'), one(first.id, 'stable', '10:10:00')]
    expect(first.tags).toEqual(tags)
    expect((await ana.get(`${at}/${second.id}`)).body.versions[0].tags).toEqual(tags)
  })

  test.each(['0', '-1', '1e3', '99999999999999999999', '%D9%A1', 'x', '1.5', '%20', '1%00'])(
    'is not found by the number %s',
    async (id) => {
      for (const path of ['', '/package_files', '/pipelines', '/package_files/1/download']) {
        const { status } = await ana.get(`${at}/${id}${path}`)
        expect([path, [400, 404].includes(status)]).toEqual([path, true])
      }
      expect([400, 404]).toContain((await ana.delete(`${at}/${id}`)).status)
      expect([400, 404]).toContain((await ana.delete(`${at}/${id}/package_files/1`)).status)
    },
  )
})

describe('the time of the last download', () => {
  const last = async (id: number) => (await ana.get(`${at}/${id}`)).body.last_downloaded_at

  test('is that of a GET, at most once a minute, and in the single package alone', async () => {
    const { package_id: id, id: file } = await publish('times/1/f')
    await ana.head(`${at}/generic/times/1/f`)
    await ana.get(`${at}/${id}/package_files`)
    expect(await last(id)).toBeNull()
    world.setNow('2026-05-04T12:00:00.000Z')
    await ana.get(`${at}/generic/times/1/f`)
    expect(await last(id)).toBe('2026-05-04T12:00:00.000Z')
    world.setNow('2026-05-04T12:00:59.000Z')
    await ana.get(`${at}/generic/times/1/f`)
    expect(await last(id)).toBe('2026-05-04T12:00:00.000Z')
    world.setNow('2026-05-04T12:01:00.000Z')
    await ana.get(`${at}/${id}/package_files/${file}/download`)
    expect(await last(id)).toBe('2026-05-04T12:01:00.000Z')
    const [row] = (await ana.get(`${at}?package_name=times`)).body
    expect(row).not.toHaveProperty('last_downloaded_at')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('is not moved by who was refused, or asked for another file', async () => {
    const { package_id: id } = await publish('known/1/f')
    expect((await world.nobody.get(`${at}/generic/known/1/f`)).status).toBe(401)
    expect((await ana.get(`${at}/generic/known/1/g`)).status).toBe(404)
    expect(await last(id)).toBeNull()
  })
})

describe('a deletion', () => {
  test('takes rows, files, tags and downloads away in the background, and writes an audit event', async () => {
    await publishNpm(ana, at, 'audited', '1.0.0')
    const [row] = (await ana.get(`${at}?package_name=audited`)).body
    await ana.get(`${at}/npm/audited/-/audited-1.0.0.tgz`)
    expect((await ana.delete(`${at}/${row.id}`)).status).toBe(204)
    expect([await rowsOf('packages', 'audited'), await rowsOf('package_files', 'audited')]).toEqual(
      [1, 1],
    )
    const pending = await ana.get(`${at}?package_name=audited&status=pending_destruction`)
    expect(pending.body.map((one: { id: number }) => one.id)).toEqual([row.id])
    await world.runTasks()
    expect([await rowsOf('packages', 'audited'), await rowsOf('package_files', 'audited')]).toEqual(
      [0, 0],
    )
    for (const table of ['package_tags', 'package_metadata', 'package_downloads'] as const) {
      const left = await world.ctx.db
        .selectFrom(table)
        .select('package_id')
        .where('package_id', '=', row.id)
        .execute()
      expect([table, left]).toEqual([table, []])
    }
    const events = await world.ctx.db
      .selectFrom('audit_events')
      .selectAll()
      .where('entity_id', '=', projectId)
      .where('details', 'like', '%audited%')
      .execute()
    expect(events).toMatchObject([{ author_id: ana.id, entity_type: 'Project' }])
    expect(JSON.stringify(events[0])).toContain('package_deleted')
  })

  test('of many packages is worked off in one go, and leaves those beside them', async () => {
    const ids: number[] = []
    for (let count = 0; count < 12; count += 1)
      ids.push((await publish(`many/${count}/f`)).package_id)
    for (const id of ids.slice(2)) expect((await ana.delete(`${at}/${id}`)).status).toBe(204)
    await world.runTasks()
    expect(await rowsOf('packages', 'many')).toBe(2)
    expect((await ana.get(`${at}?package_name=many`)).body).toHaveLength(2)
  })

  test('of all files leaves the package, which takes files again', async () => {
    const { package_id: id, id: file } = await publish('emptied/1/f')
    expect((await ana.delete(`${at}/${id}/package_files/${file}`)).status).toBe(204)
    await world.runTasks()
    expect((await ana.get(`${at}/${id}`)).status).toBe(200)
    expect((await ana.get(`${at}/${id}/package_files`)).body).toEqual([])
    expect((await publish('emptied/1/f')).package_id).toBe(id)
  })

  test('frees bytes that nothing else names, and no others', async () => {
    const one = await publish('bytes/1/f', 'shared bytes')
    const two = await publish('bytes/2/f', 'shared bytes')
    await ana.delete(`${at}/${one.package_id}`)
    await world.runTasks()
    expect((await ana.get(`${at}/generic/bytes/2/f`)).body).toBe('shared bytes')
    const size = async () =>
      (await ana.get(`/projects/${projectId}?statistics=true`)).body.statistics.packages_size
    const before = await size()
    await ana.delete(`${at}/${two.package_id}`)
    await world.runTasks()
    expect(before - (await size())).toBe('shared bytes'.length)
  })

  test('by several at once is one', async () => {
    const { package_id: id } = await publish('once/1/f')
    const replies = await Promise.all([1, 2, 3, 4].map(() => ana.delete(`${at}/${id}`)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([204, 404, 404, 404])
    const events = await world.ctx.db
      .selectFrom('audit_events')
      .select('id')
      .where('details', 'like', '%"once"%')
      .execute()
    expect(events).toHaveLength(1)
  })

  test('is not taken back by what was begun before it', async () => {
    await publishNpm(ana, at, 'overtaken', '1.0.0')
    await publishNpm(ana, at, 'overtaken', '2.0.0', { tag: 'next' })
    const ctx = { ...world.ctx, actor: { kind: 'system' } as const }
    const found = await findProjectByPath(ctx.db, 'acme/p')
    if (!found) throw new Error('no project')
    const project = await withProjectRole(ctx, found)
    const key = { type: 'npm', nameKey: 'overtaken', versionKey: '2.0.0' } as const
    const row = await findInstallable(ctx, project, key)
    if (!row) throw new Error('no package')
    await ana.delete(`${at}/${row.id}`)
    await setDeprecated(ctx, project, [{ row, text: 'too late' }])
    await expect(putTag(ctx, project, row, 'latest')).rejects.toThrow('404 Package Not Found')
    await expect(removePackage(ctx, project, row)).rejects.toThrow('404 Package Not Found')
    const { body } = await ana.get(`${at}/npm/overtaken`)
    expect([body['dist-tags'], Object.keys(body.versions)]).toEqual([
      { latest: '1.0.0' },
      ['1.0.0'],
    ])
    expect((await publishNpm(ana, at, 'overtaken', '2.0.0')).status).toBe(200)
  })

  test('while its file is sent goes through, and what was sent stands by itself', async () => {
    const { package_id: id } = await publish('crossed/1/f', 'first')
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('sec'))
        await held
        controller.enqueue(new TextEncoder().encode('ond'))
        controller.close()
      },
    })
    const sending = fetch(`${world.url}/api/v4${at}/generic/crossed/1/g`, {
      method: 'PUT',
      headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
      body,
      duplex: 'half',
    } as RequestInit)
    expect((await ana.delete(`${at}/${id}`)).status).toBe(204)
    release()
    expect((await sending).status).toBe(201)
    await world.runTasks()
    expect((await ana.get(`${at}/generic/crossed/1/g`)).body).toBe('second')
    expect((await ana.get(`${at}/generic/crossed/1/f`)).status).toBe(404)
  })

  test('needs a Maintainer, by each kind of token, and nobody else learns what is there', async () => {
    const { package_id: id, id: file } = await publish('kept/1/f')
    const paths = [`${at}/${id}`, `${at}/${id}/package_files/${file}`]
    const missing = [`${at}/999999`, `${at}/${id}/package_files/999999`]
    const developer = await world.user('developer')
    await addMember(world, projectId, developer.id, 30)
    const stranger = await world.user('stranger')
    const reader = world.as(await world.token(ana.id, ['read_api']))
    for (const [who, statuses] of [
      [developer, [403, 403]],
      [stranger, [404, 404]],
      [world.nobody, [404, 404]],
      [reader, [403, 403]],
      [ana, [204, 404]],
    ] as const) {
      for (const path of who === ana ? [] : paths)
        expect((await who.delete(path)).status).toBe(statuses[0])
      for (const path of missing) expect((await who.delete(path)).status).toBe(statuses[1])
    }
    expect((await ana.delete(paths[1] ?? '')).status).toBe(204)
    expect((await ana.delete(paths[0] ?? '')).status).toBe(204)
  })
})

describe('the list', () => {
  test('is counted for HEAD, and empty behind its end', async () => {
    for (let count = 0; count < 3; count += 1) await publish(`counted-${count}/1/f`)
    const head = await ana.head(`${at}?package_name=counted&per_page=2`)
    expect([head.status, head.body, head.headers.get('x-total')]).toEqual([200, '', '3'])
    const behind = await ana.get(`${at}?package_name=counted&page=9`)
    expect([behind.status, behind.body]).toEqual([200, []])
    const lowered = await ana.get(`${at}?package_name=counted&per_page=1000`)
    expect(lowered.headers.get('x-per-page')).toBe('100')
    expect((await ana.get(`${at}?per_page=0`)).status).toBe(400)
    expect((await ana.get(`${at}?package_name=counted&unknown=x`)).body).toHaveLength(3)
  })
})

describe('the packages of a group', () => {
  test('are listed by path and number, across subgroups, and never to jobs and deploy tokens', async () => {
    const sub = await ana.post('/groups', { name: 'sub', path: 'sub', parent_id: groupId })
    const made = await ana.post('/projects', { name: 'deep', namespace_id: sub.body.id })
    await publish('listed/1/f')
    await publish('listed/2/f', 'x', `/projects/${made.body.id}/packages`)
    const versions = async (path: string) =>
      (await ana.get(`${path}/packages?package_name=listed`)).body.map(
        (one: { version: string }) => one.version,
      )
    expect(await versions('/groups/acme')).toEqual(['1', '2'])
    expect(await versions(`/groups/${groupId}`)).toEqual(['1', '2'])
    expect(await versions('/groups/acme%2fsub')).toEqual(['2'])
    expect((await ana.get('/groups/none/packages')).status).toBe(404)
    expect((await world.nobody.get('/groups/acme/packages')).status).toBe(404)
    const token = await ana.post(`/groups/${groupId}/deploy_tokens`, {
      name: 't',
      scopes: ['read_package_registry'],
    })
    const deploy = world.withHeader('DEPLOY-TOKEN', token.body.token)
    expect((await deploy.get('/groups/acme/packages')).status).toBe(401)
  })

  test('move with their project, by name and by group', async () => {
    const made = await ana.post('/projects', { name: 'mover', namespace_id: groupId })
    const place = `/projects/${made.body.id}/packages`
    const { package_id: id, file } = await publish('moved/1/f', 'moved bytes', place)
    await publishNpm(ana, place, '@acme/moved', '1.0.0')
    const other = (await createGroup(ana, 'other')).id
    await ana.put(`/projects/${made.body.id}/transfer`, { namespace: other })
    const listed = await ana.get('/groups/other/packages?package_name=moved&order_by=name')
    expect(listed.body.map((one: { project_path: string }) => one.project_path)).toEqual([
      'other/mover',
      'other/mover',
    ])
    expect((await ana.get('/groups/acme/packages?package_name=moved')).body).toEqual([])
    expect((await ana.get(`${place}/${id}`)).body._links.web_path).toBe(
      `/other/mover/-/packages/${id}`,
    )
    expect((await ana.get(new URL(file.url).pathname.replace('/api/v4', ''))).body).toBe(
      'moved bytes',
    )
    expect((await ana.get('/packages/npm/@acme%2fmoved')).status).toBe(404)
    expect((await ana.get('/groups/other/-/packages/npm/@acme%2fmoved')).status).toBe(200)
    expect((await ana.get('/projects/other%2fmover/packages')).body).toHaveLength(2)
    const old = await ana.get('/projects/acme%2fmover/packages')
    expect([old.status, old.headers.get('location')]).toEqual([
      301,
      `${world.ctx.config.externalUrl}/api/v4/projects/${made.body.id}/packages`,
    ])
  })

  test('of a project that is deleted are gone at once, for every client', async () => {
    const made = await ana.post('/projects', { name: 'doomed', namespace_id: groupId })
    const place = `/projects/${made.body.id}/packages`
    await publishNpm(ana, place, '@acme/doomed', '1.0.0')
    await putMaven(ana, place, 'acme/doomed/1.0/doomed-1.0.jar')
    await uploadPypi(ana, place, { name: 'doomed', version: '1.0' })
    expect((await ana.delete(`/projects/${made.body.id}`)).status).toBe(202)
    for (const path of [
      `${place}/npm/@acme%2fdoomed`,
      '/groups/acme/-/packages/npm/@acme%2fdoomed',
      '/packages/npm/@acme%2fdoomed',
      '/groups/acme/-/packages/maven/acme/doomed/1.0/doomed-1.0.jar',
      '/groups/acme/-/packages/pypi/simple/doomed',
      `${place}/pypi/simple`,
    ])
      expect([path, (await ana.get(path)).status]).toEqual([path, 404])
    expect((await ana.get('/packages/maven/acme/doomed/1.0/doomed-1.0.jar')).status).toBe(403)
    await world.runTasks()
  })
})

describe('pipelines', () => {
  let runner: TestRunner

  beforeAll(async () => {
    const content = 'x: {script: make}'
    const actions = [{ action: 'create', file_path: '.svc-ci.yml', content }]
    const commit = { branch: 'main', commit_message: 'one', actions }
    await ana.post(`/projects/${projectId}/repository/commits`, commit)
    await world.runTasks()
    runner = await addRunner(world, ana, projectId)
  })

  async function newJob(): Promise<GivenJob> {
    await ana.post(`/projects/${projectId}/pipeline`, { ref: 'main' })
    const given = await runner.request()
    if (!given) throw new Error('no job')
    return given
  }

  test('are those whose jobs published a version or a file, each once, newest first', async () => {
    const ids: number[] = []
    for (const [index, files] of [['a', 'b'], ['c']].entries()) {
      const job = await newJob()
      const who = world.withHeader('JOB-TOKEN', job.token)
      for (const file of files) {
        const sent = await who.put(`${at}/generic/built/1/${file}`, undefined, { raw: `${index}` })
        expect(sent.status).toBe(201)
      }
      await runner.finish(job, 'success')
      ids.push((await ana.get(`/projects/${projectId}/jobs/${job.id}`)).body.pipeline.id)
    }
    const [first, second] = ids
    const [row] = (await ana.get(`${at}?package_name=built`)).body
    expect(row.pipelines.map((one: { id: number }) => one.id)).toEqual([first, second])
    expect(row.pipeline.id).toBe(second)
    const listed = (await ana.get(`${at}/${row.id}/pipelines`)).body
    expect(listed.map((one: { id: number }) => one.id)).toEqual([second, first])
    const { body: pipeline } = await ana.get(`/projects/${projectId}/pipelines/${second}`)
    const fields = [
      'id',
      'iid',
      'project_id',
      'sha',
      'ref',
      'status',
      'source',
      'created_at',
      'updated_at',
      'web_url',
      'user',
    ]
    expect(listed[0]).toEqual(Object.fromEntries(fields.map((name) => [name, pipeline[name]])))
    const files = (await ana.get(`${at}/${row.id}/package_files`)).body
    const built = files.map((one: { file_name: string; pipelines: { id: number }[] }) => [
      one.file_name,
      one.pipelines.map(({ id }) => id),
    ])
    expect(built).toEqual([
      ['a', [first]],
      ['b', [first]],
      ['c', [second]],
    ])
    await publish('built/1/d')
    expect((await ana.get(`${at}/${row.id}/pipelines`)).body).toHaveLength(2)
  })

  test('that are deleted leave the package', async () => {
    const job = await newJob()
    const who = world.withHeader('JOB-TOKEN', job.token)
    await who.put(`${at}/generic/orphan/1/f`, undefined, { raw: 'x' })
    await runner.finish(job, 'success')
    const [row] = (await ana.get(`${at}?package_name=orphan`)).body
    expect((await ana.delete(`/projects/${projectId}/pipelines/${row.pipeline.id}`)).status).toBe(
      204,
    )
    const after = (await ana.get(`${at}/${row.id}`)).body
    expect([after.pipelines, after.pipeline]).toEqual([[], undefined])
    expect((await ana.get(`${at}/generic/orphan/1/f`)).body).toBe('x')
  })

  test('are shown to those who may read pipelines, and to jobs', async () => {
    const guest = await world.user('pipeline-guest')
    await addMember(world, projectId, guest.id, 10)
    await ana.put(`/projects/${projectId}`, { public_jobs: false })
    const [row] = (await guest.get(`${at}?package_name=built`)).body
    expect(row).not.toHaveProperty('pipelines')
    expect(row).not.toHaveProperty('pipeline')
    expect((await guest.get(`${at}/${row.id}/pipelines`)).status).toBe(403)
    const job = await newJob()
    const who = world.withHeader('JOB-TOKEN', job.token)
    expect((await who.get(`${at}/${row.id}/pipelines`)).body).toHaveLength(2)
    await ana.put(`/projects/${projectId}`, { public_jobs: true })
  })
})
