import { beforeEach, describe, expect, test } from 'vitest'
import { gitBytes } from '../../support/git.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject
let count = 0

beforeEach(async () => {
  count += 1
  project = await addProject(world, ana, 'basic', { path: `basic${count}` })
})

describe('the diff of a commit', () => {
  test('is against its first parent, and pages with totals', async () => {
    const sha = project.git('rev-parse', 'v0.1.0')
    const reply = await ana.get(`${project.api}/commits/${sha}/diff?per_page=2`)
    const paths = project.git('diff-tree', '-r', '--name-only', '--no-commit-id', sha).split('\n')
    expect(reply.body.map((diff: { new_path: string }) => diff.new_path)).toEqual(paths.slice(0, 2))
    expect(reply.headers.get('x-total')).toBe(String(paths.length))
    const second = await ana.get(`${project.api}/commits/${sha}/diff?per_page=2&page=2`)
    expect(second.body).toHaveLength(paths.length - 2)
    expect(reply.body[0]).toEqual({
      diff: '@@ -0,0 +1 @@\n+Deep.\n',
      collapsed: false,
      too_large: false,
      new_path: 'docs/guide/deep/er/still.md',
      old_path: 'docs/guide/deep/er/still.md',
      a_mode: '0',
      b_mode: '100644',
      new_file: true,
      renamed_file: false,
      deleted_file: false,
      generated_file: false,
    })
  })

  test('of a first commit adds everything; unidiff names the files', async () => {
    const root = project.git('rev-list', '--max-parents=0', 'main')
    const reply = await ana.get(`${project.api}/commits/${root}/diff?unidiff=true`)
    expect(reply.body[0].diff).toBe('--- /dev/null\n+++ b/README.md\n@@ -0,0 +1 @@\n+# Basic\n')
    expect((await ana.get(`${project.api}/commits/nowhere/diff`)).body).toEqual({
      message: '404 Commit Not Found',
    })
  })
})

describe('comments on a commit', () => {
  test('are listed oldest first, with the line that they are about', async () => {
    const path = `${project.api}/commits/main/comments`
    const plain = await ana.post(path, { note: 'Nice' })
    expect([plain.status, plain.body]).toEqual([
      201,
      {
        note: 'Nice',
        path: null,
        line: null,
        line_type: null,
        author: expect.objectContaining({ username: 'ana' }),
        created_at: world.ctx.now(),
      },
    ])
    const placed = await ana.post(path, { note: 'Here', path: 'README.md', line: 3 })
    expect(placed.body).toMatchObject({ path: 'README.md', line: 3, line_type: 'new' })
    const lost = await ana.post(path, { note: 'Nowhere', path: 'README.md', line: 1 })
    expect([lost.status, lost.body.path, lost.body.line]).toEqual([201, null, null])
    const listed = await ana.get(path)
    expect(listed.body.map((each: { note: string }) => each.note)).toEqual([
      'Nice',
      'Here',
      'Nowhere',
    ])
  })

  test('may be about a removed line', async () => {
    const sha = project.git('log', '-1', '--format=%H', '--grep=Correct', 'main')
    const body = { note: 'Why?', path: 'src/main.ts', line: 1, line_type: 'old' }
    const reply = await ana.post(`${project.api}/commits/${sha}/comments`, body)
    expect(reply.body).toMatchObject({ path: 'src/main.ts', line: 1, line_type: 'old' })
  })

  test.each([
    [{}, { error: 'note is missing' }],
    [{ note: ' ' }, { error: 'note is empty' }],
    [{ note: 'x', path: 'README.md' }, { error: 'line is missing' }],
    [{ note: 'x', path: 'a', line: 'b' }, { error: 'line is invalid' }],
    [
      { note: 'x', path: 'a', line: 1, line_type: 'both' },
      { error: 'line_type does not have a valid value' },
    ],
  ])('with %j are refused', async (body, answer) => {
    const reply = await ana.post(`${project.api}/commits/main/comments`, body)
    expect([reply.status, reply.body]).toEqual([400, answer])
  })

  test('tag the commit by a quick action, and are none when they say nothing else', async () => {
    const path = `${project.api}/commits/main/comments`
    const alone = await ana.post(path, { note: '/tag v7.0 Seven' })
    expect([alone.status, alone.body]).toEqual([
      202,
      {
        commands_changes: { tag_name: 'v7.0', tag_message: 'Seven' },
        summary: ['Tagged this commit to v7.0 with "Seven".'],
      },
    ])
    expect((await ana.get(path)).body).toEqual([])
    const tag = await ana.get(`${project.api}/tags/v7.0`)
    expect(tag.body).toMatchObject({
      message: 'Seven',
      commit: { id: project.git('rev-parse', 'main') },
    })
    const beside = await ana.post(path, {
      note: 'Well done\n/tag v7.1',
      path: 'README.md',
      line: 3,
    })
    expect([beside.status, beside.body]).toMatchObject([201, { note: 'Well done', line: 3 }])
    expect((await ana.get(`${project.api}/tags/v7.1`)).body.message).toBeNull()
    const again = await ana.post(path, { note: '/tag v7.0' })
    expect([again.status, again.body]).toEqual([
      400,
      { message: '400 Bad request - Failed to apply commands.' },
    ])
    const outsider = await world.user(`outsider${count}`)
    await addMember(world, project, outsider, 20)
    expect((await outsider.post(path, { note: '/tag v7.2' })).status).toBe(400)
    expect((await ana.get(`${project.api}/tags/v7.2`)).status).toBe(404)
  })

  test('need somebody who sees the code', async () => {
    const open = await addProject(world, ana, 'basic', {
      path: `open${count}`,
      visibility: 'public',
    })
    const path = `${open.api}/commits/main/comments`
    expect((await world.nobody.post(path, { note: 'x' })).status).toBe(401)
    expect((await world.nobody.get(path)).status).toBe(200)
    const passer = await world.user(`passer${count}`)
    expect((await passer.post(path, { note: 'x' })).status).toBe(201)
    expect((await passer.post(`${project.api}/commits/main/comments`, { note: 'x' })).status).toBe(
      404,
    )
    const guest = await world.user(`guest${count}`)
    await addMember(world, project, guest, 10)
    expect((await guest.get(`${project.api}/commits/main/comments`)).status).toBe(403)
    const refused = await guest.post(`${project.api}/commits/main/comments`, { note: 'x' })
    expect(refused.status).toBe(403)
  })
})

describe('threads on a commit', () => {
  test('hold replies, and comments on lines show up among the plain ones', async () => {
    const path = `${project.api}/commits/main/discussions`
    const begun = await ana.post(path, { body: 'A thread' })
    expect([begun.status, begun.body.individual_note]).toEqual([201, false])
    const sha = project.git('rev-parse', 'main')
    expect(begun.body.notes[0]).toMatchObject({
      body: 'A thread',
      noteable_type: 'Commit',
      resolvable: false,
    })
    const reply = await ana.post(`${path}/${begun.body.id}/notes`, { body: 'A reply' })
    expect([reply.status, reply.body.body]).toEqual([201, 'A reply'])
    const parent = project.git('rev-parse', 'main~1')
    const position = {
      base_sha: parent,
      start_sha: parent,
      head_sha: sha,
      position_type: 'text',
      new_path: 'README.md',
      old_path: 'README.md',
      new_line: 3,
    }
    const placed = await ana.post(path, { body: 'Here', position })
    expect([placed.status, placed.body.notes[0].type]).toEqual([201, 'DiffNote'])
    const lost = await ana.post(path, { body: 'Lost', position: { ...position, new_line: 99 } })
    expect(lost.status).toBe(400)
    const comments = await ana.get(`${project.api}/commits/main/comments`)
    expect(comments.body.map((each: { note: string }) => each.note)).toEqual([
      'A thread',
      'A reply',
      'Here',
    ])
    expect(comments.body[2]).toMatchObject({ path: 'README.md', line: 3, line_type: 'new' })
    expect((await ana.get(path)).body).toHaveLength(2)
  })
})

describe('a signature', () => {
  const armoured = [
    '-----BEGIN PGP SIGNATURE-----',
    '',
    // No packet that names a key: the key is reported as unknown.
    Buffer.from('not a packet').toString('base64'),
    '-----END PGP SIGNATURE-----',
  ]

  function signedCommit(): string {
    const tree = project.git('rev-parse', 'main^{tree}')
    const signature = armoured.map((line, index) => (index === 0 ? `gpgsig ${line}` : ` ${line}`))
    const text = [
      `tree ${tree}`,
      'author A <a@example.com> 1704067200 +0000',
      'committer A <a@example.com> 1704067200 +0000',
      ...signature,
      '',
      'Signed',
      '',
    ].join('\n')
    return gitBytes(project.path, ['hash-object', '-t', 'commit', '-w', '--stdin'], { input: text })
      .toString()
      .trim()
  }

  test('is shown with what it claims, never as verified', async () => {
    const sha = signedCommit()
    const reply = await ana.get(`${project.api}/commits/${sha}/signature`)
    expect([reply.status, reply.body.signature_type]).toEqual([200, 'PGP'])
    expect(reply.body).toMatchObject({
      verification_status: 'unknown_key',
      gpg_key_id: null,
      gpg_key_user_email: null,
    })
  })

  test('that is not there is not found, of commits and of tags', async () => {
    const text = { message: '404 Signature Not Found' }
    for (const path of ['commits/main', 'tags/v1.0.0', 'tags/v0.1.0']) {
      const reply = await ana.get(`${project.api}/${path}/signature`)
      expect([reply.status, reply.body]).toEqual([404, text])
    }
    expect((await ana.get(`${project.api}/tags/nowhere/signature`)).body).toEqual({
      message: '404 Tag Not Found',
    })
  })
})
