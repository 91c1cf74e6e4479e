import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let at: string
let one: string
let refs: { base_sha: string; start_sha: string; head_sha: string }

beforeAll(async () => {
  const bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
  const actions = [
    { action: 'update', file_path: 'README.md', content: 'one\n2\nthree\nfour\n' },
    { action: 'create', file_path: 'grüße.txt', content: 'hallo\n' },
  ]
  const commit = { branch: 'work', start_branch: 'main', commit_message: 'Change', actions }
  expect((await ana.post(`${at}/repository/commits`, commit)).status).toBe(201)
  const { body } = await bench.open('work')
  one = `${bench.api}/${body.iid}`
  refs = body.diff_refs
})

const place = (position: object, more: object = {}) =>
  ana.post(`${one}/discussions`, {
    body: 'Here',
    position: { ...refs, position_type: 'text', new_path: 'README.md', ...position },
    ...more,
  })

const misplaced = {
  message: '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}',
}

describe('a comment on a line', () => {
  test('of an added, a removed and an unchanged line says which', async () => {
    for (const [lines, seen] of [
      [{ new_line: 2 }, { new_line: 2, old_line: null }],
      [{ old_line: 2 }, { new_line: null, old_line: 2 }],
      [
        { old_line: 3, new_line: 3 },
        { new_line: 3, old_line: 3 },
      ],
      [{ new_line: 4 }, { new_line: 4, old_line: null }],
    ] as const) {
      const { status, body } = await place(lines)
      expect([lines, status]).toEqual([lines, 201])
      expect(body).toMatchObject({ individual_note: false, notes: [{ type: 'DiffNote' }] })
      expect(body.notes[0].position).toMatchObject({
        ...refs,
        ...seen,
        position_type: 'text',
        old_path: 'README.md',
        new_path: 'README.md',
        line_range: null,
      })
      const read = await ana.get(`${one}/discussions/${body.id}`)
      expect(read.body.notes[0].position).toEqual(body.notes[0].position)
    }
  })

  test('is found by its path in any script', async () => {
    const { status, body } = await place({ new_path: 'grüße.txt', new_line: 1 })
    expect([status, body.notes[0].position.new_path]).toEqual([201, 'grüße.txt'])
  })

  test('may span lines, which are kept', async () => {
    const code = (old: number, now: number) =>
      `${createHash('sha1').update('README.md').digest('hex')}_${old}_${now}`
    const line_range = {
      start: { line_code: code(2, 2), type: 'new', old_line: null, new_line: 2 },
      end: { line_code: code(4, 4), type: 'new', old_line: null, new_line: 4 },
    }
    const { status, body } = await place({ new_line: 4, line_range })
    expect([status, body.notes[0].position.line_range]).toEqual([201, line_range])
  })

  test('may be about the file as a whole', async () => {
    const { status, body } = await place({ position_type: 'file' })
    expect([status, body.notes[0]]).toMatchObject([
      201,
      { type: 'DiffNote', position: { position_type: 'file', old_line: null, new_line: null } },
    ])
  })

  test('is followed by replies on the same line', async () => {
    const { body: thread } = await place({ new_line: 2 })
    const path = `${one}/discussions/${thread.id}/notes`
    const { status, body } = await ana.post(path, { body: 'Indeed' })
    expect([status, body]).toMatchObject([201, { type: 'DiffNote', resolvable: true }])
    expect(body.position).toEqual(thread.notes[0].position)
  })

  test.each([
    ['a line that is not in the diff', { new_line: 99 }],
    ['no line at all', {}],
    ['an unchanged line by its new number alone', { new_line: 1 }],
    ['lines that do not belong together', { old_line: 1, new_line: 3 }],
    ['a file that does not change', { new_path: 'other.txt', new_line: 1 }],
    ['no file', { new_path: null, new_line: 2 }],
    ['a head of another time', { head_sha: 'a'.repeat(40), new_line: 2 }],
    ['a base of another time', { base_sha: 'a'.repeat(40), new_line: 2 }],
    ['a start of another time', { start_sha: 'a'.repeat(40), new_line: 2 }],
    ['no head', { head_sha: undefined, new_line: 2 }],
    ['no base', { base_sha: undefined, new_line: 2 }],
    ['no start', { start_sha: undefined, new_line: 2 }],
  ])('is refused for %s', async (_, position) => {
    const { status, body } = await place(position)
    expect([status, body]).toEqual([400, misplaced])
  })

  test('is refused without the type of its position', async () => {
    const missing = await place({ position_type: undefined, new_line: 2 })
    expect(missing.status).toBe(400)
    const odd = await place({ position_type: 'sound', new_line: 2 })
    expect(odd.status).toBe(400)
  })

  test('that is refused leaves nothing behind', async () => {
    const count = async () => (await ana.get(one)).body.user_notes_count
    const before = await count()
    await place({ new_line: 99 })
    expect(await count()).toBe(before)
  })
})

describe('a comment on a line of a commit', () => {
  const onCommit = (position: object) =>
    ana.post(`${at}/repository/commits/${refs.head_sha}/discussions`, {
      body: 'Here',
      position: {
        ...refs,
        position_type: 'text',
        old_path: 'README.md',
        new_path: 'README.md',
        ...position,
      },
    })

  test('names the commit and its parent, and is not resolved', async () => {
    const { status, body } = await onCommit({ new_line: 2 })
    expect([status, body.notes[0]]).toMatchObject([
      201,
      {
        type: 'DiffNote',
        noteable_type: 'Commit',
        noteable_id: null,
        noteable_iid: null,
        commit_id: refs.head_sha,
        resolvable: false,
        position: { ...refs, new_line: 2, old_line: null },
      },
    ])
  })

  test('is refused for a line that is not in the diff', async () => {
    const { status, body } = await onCommit({ new_line: 99 })
    expect([status, body]).toEqual([400, misplaced])
  })

  test.each(['base_sha', 'start_sha', 'head_sha'])('is refused with another %s', async (name) => {
    for (const sha of ['f'.repeat(40), undefined]) {
      const { status, body } = await onCommit({ new_line: 2, [name]: sha })
      expect([status, body]).toEqual([400, misplaced])
    }
  })
})
