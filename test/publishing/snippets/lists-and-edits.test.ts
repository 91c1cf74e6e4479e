import { beforeAll, describe, expect, test } from 'vitest'
import { addProject } from '../../support/project.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

const titles = (reply: Reply) => reply.body.map((one: { title: string }) => one.title)

async function add(caller: Caller, title: string, more: Record<string, unknown> = {}) {
  const made = await caller.post('/snippets', {
    title,
    file_name: 'a',
    content: 'x',
    ...more,
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body
}

describe('lists of snippets', () => {
  beforeAll(async () => {
    const days = ['2026-05-01', '2026-05-02', '2026-05-03']
    for (const [n, visibility] of ['private', 'internal', 'public'].entries()) {
      world.setNow(`${days[n]}T10:00:00.000Z`)
      await add(ana, `ana ${visibility}`, { visibility })
      await add(ben, `ben ${visibility}`, { visibility })
    }
    world.setNow('2026-05-04T10:00:00.000Z')
    const project = await addProject(world, ana, 'basic', {
      visibility: 'public',
    })
    const inProject = {
      title: 'of a project',
      file_name: 'a',
      content: 'x',
      visibility: 'public',
    }
    await ana.post(`/projects/${project.id}/snippets`, inProject)
  })

  test.each([
    ['/snippets', ['of a project', 'ana public', 'ana internal', 'ana private']],
    [
      '/snippets?created_after=2026-05-02T10:00:00Z',
      ['of a project', 'ana public', 'ana internal'],
    ],
    ['/snippets?created_before=2026-05-02T10:00:00Z', ['ana internal', 'ana private']],
    [
      '/snippets?created_after=2026-05-02T00:00:00Z&created_before=2026-05-02T23:00:00Z',
      ['ana internal'],
    ],
    ['/snippets?per_page=2&page=2', ['ana internal', 'ana private']],
    ['/snippets/public', ['ben public', 'ana public']],
    ['/snippets/public?created_before=2026-05-02T00:00:00Z', []],
    [
      '/snippets/all',
      ['of a project', 'ben public', 'ana public', 'ben internal', 'ana internal', 'ana private'],
    ],
    [
      '/snippets/all?repository_storage=default&created_before=2026-05-01T10:00:00Z',
      ['ana private'],
    ],
  ])('%s gives what it names, newest first', async (path, expected) => {
    const reply = await ana.get(path)
    expect([reply.status, titles(reply)]).toEqual([200, expected])
  })

  test('show administrators those of everybody', async () => {
    expect(titles(await world.root.get('/snippets/all'))).toContain('ben private')
    expect(titles(await world.root.get('/snippets'))).toEqual([])
  })
})

describe('a change of a snippet', () => {
  test('leaves alone what it does not name', async () => {
    const made = await add(ana, 'Kept', {
      description: 'Said',
      visibility: 'public',
    })
    const steps: [object, object][] = [
      [{ title: 'Renamed' }, { title: 'Renamed', description: 'Said', visibility: 'public' }],
      [{ description: '' }, { title: 'Renamed', description: '', visibility: 'public' }],
      [{ visibility: 'private' }, { title: 'Renamed', description: '', visibility: 'private' }],
    ]
    for (const [change, result] of steps) {
      const reply = await ana.put(`/snippets/${made.id}`, change)
      expect([reply.status, reply.body]).toMatchObject([200, { ...result, files: made.files }])
    }
    expect((await ana.get(`/snippets/${made.id}/raw`)).body).toBe('x')
  })

  test('of its files alone is a change of the snippet too', async () => {
    world.setNow('2026-05-04T10:00:00.000Z')
    const made = await add(ana, 'Dated')
    world.setNow('2026-05-05T10:00:00.000Z')
    const files = [{ action: 'update', file_path: 'a', content: 'y' }]
    const changed = await ana.put(`/snippets/${made.id}`, { files })
    expect(changed.body).toMatchObject({
      created_at: '2026-05-04T10:00:00.000Z',
      updated_at: '2026-05-05T10:00:00.000Z',
    })
    world.setNow('2026-05-06T10:00:00.000Z')
    const again = await ana.put(`/snippets/${made.id}`, { content: 'z' })
    expect(again.body.updated_at).toBe('2026-05-06T10:00:00.000Z')
    expect((await ana.get(`/snippets/${made.id}/raw`)).body).toBe('z')
  })

  test('of nothing is refused', async () => {
    const made = await add(ana, 'Still')
    const reply = await ana.put(`/snippets/${made.id}`, {})
    expect([reply.status, reply.body]).toEqual([
      400,
      {
        error:
          'title, description, visibility, files, file_name, content are missing, at least one parameter must be provided',
      },
    ])
    expect((await ana.get(`/snippets/${made.id}`)).body).toEqual(made)
  })

  test('that is refused changes neither files nor title', async () => {
    const made = await add(ana, 'All or none')
    const files = [
      { action: 'create', file_path: 'b', content: 'b' },
      { action: 'delete', file_path: 'missing' },
    ]
    const reply = await ana.put(`/snippets/${made.id}`, {
      title: 'Half',
      files,
    })
    expect([reply.status, reply.body]).toEqual([
      400,
      { message: "A file with this name doesn't exist" },
    ])
    expect((await ana.get(`/snippets/${made.id}`)).body).toEqual(made)
  })

  test('may move a file with other text, and keeps the text otherwise', async () => {
    const made = await add(ana, 'Moves')
    const at = `/snippets/${made.id}`
    const kept = [{ action: 'move', previous_path: 'a', file_path: 'dir/b' }]
    expect((await ana.put(at, { files: kept })).body.file_name).toBe('dir/b')
    expect((await ana.get(`${at}/files/main/dir%2Fb/raw`)).body).toBe('x')
    const other = [
      {
        action: 'move',
        previous_path: 'dir/b',
        file_path: 'c',
        content: 'new',
      },
    ]
    expect((await ana.put(at, { files: other })).status).toBe(200)
    expect((await ana.get(`${at}/files/main/c/raw`)).body).toBe('new')
    expect((await ana.get(`${at}/files/main/dir%2Fb/raw`)).status).toBe(404)
  })

  test('by content alone is refused where there are several files', async () => {
    const files = ['a', 'b'].map((file_path) => ({ file_path, content: 'x' }))
    const made = await add(ana, 'Two', {
      file_name: undefined,
      content: undefined,
      files,
    })
    const reply = await ana.put(`/snippets/${made.id}`, { content: 'y' })
    expect(reply.status).toBe(400)
    expect((await ana.get(`/snippets/${made.id}/files/main/a/raw`)).body).toBe('x')
  })
})

test('titles have one to 255 characters, whatever the script', async () => {
  const at = `/snippets/${(await add(ana, 'ü'.repeat(255))).id}`
  expect((await ana.get(at)).body.title).toBe('ü'.repeat(255))
  for (const title of ['', '  ', 'x'.repeat(256)]) {
    const body = { title, file_name: 'a', content: 'x' }
    expect([title.length, (await ana.post('/snippets', body)).status]).toEqual([title.length, 400])
    expect([title.length, (await ana.put(at, { title })).status]).toEqual([title.length, 400])
  }
})

test('a deleted snippet is gone from every address', async () => {
  const made = await add(ana, 'Gone', { visibility: 'public' })
  expect((await ana.delete(`/snippets/${made.id}`)).status).toBe(204)
  for (const path of ['', '/raw', '/files/main/a/raw', '/notes']) {
    const reply = await ana.get(`/snippets/${made.id}${path}`)
    expect([path, reply.status]).toEqual([path, 404])
  }
  expect((await ana.delete(`/snippets/${made.id}`)).status).toBe(404)
  expect(titles(await ana.get('/snippets'))).not.toContain('Gone')
})

test('a private snippet becomes readable to others with its visibility, and hidden again', async () => {
  const made = await add(ana, 'Turns', { visibility: 'private' })
  const at = `/snippets/${made.id}`
  const seen = async () => [(await ben.get(at)).status, (await world.nobody.get(at)).status]
  expect(await seen()).toEqual([404, 404])
  await ana.put(at, { visibility: 'internal' })
  expect(await seen()).toEqual([200, 404])
  await ana.put(at, { visibility: 'public' })
  expect(await seen()).toEqual([200, 200])
  await ana.put(at, { visibility: 'private' })
  expect(await seen()).toEqual([404, 404])
})
