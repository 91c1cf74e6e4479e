import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import {
  addMember,
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
  type TestProject,
} from '../../support/git-client.ts'
import {
  makeIdentity,
  noKnownHosts,
  runSsh,
  type SshIdentity,
  sshEnvironment,
} from '../../support/ssh-client.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let folders: ClientFolders
let port: number
let known: string
let ana: Caller
let bob: Caller
let anaKey: SshIdentity
let bobKey: SshIdentity
let stranger: SshIdentity

beforeAll(async () => {
  port = await freePort()
  world = await openWorld({ sshPort: port })
  folders = openClientFolders()
  const folder = await folders.folder()
  known = await noKnownHosts(folder)
  ana = await world.user('ana')
  bob = await world.user('bob')
  anaKey = await makeIdentity(folder, 'ana')
  bobKey = await makeIdentity(folder, 'bob', ['-t', 'rsa', '-b', '2048'])
  stranger = await makeIdentity(folder, 'stranger', ['-t', 'ecdsa'])
  await addKey(ana, anaKey)
  await addKey(bob, bobKey)
})

afterAll(async () => {
  await world.close()
  await folders.clear()
})

async function addKey(of: Caller, key: SshIdentity, more = {}): Promise<number> {
  const answer = await of.post('/user/keys', { title: 'key', key: key.publicKey, ...more })
  expect(answer.status).toBe(201)
  return answer.body.id
}

let count = 0
const newProject = (options = {}) => makeProject(world, ana, `project-${++count}`, options)
const urlOf = (path: string) => `ssh://git@127.0.0.1:${port}/${path}.git`
const git = (folder: string, key: SshIdentity, ...args: string[]) =>
  runGitClient(folder, args, sshEnvironment(key, known))

async function addDeployKey(project: TestProject, key: SshIdentity, canPush: boolean) {
  const body = { title: 'deploy', key: key.publicKey, can_push: canPush }
  const answer = await ana.post(`/projects/${project.id}/deploy_keys`, body)
  expect(answer.status).toBe(201)
  return answer.body.id as number
}

const newKey = async (...args: string[]) =>
  makeIdentity(await folders.folder(), 'key', args.length > 0 ? args : undefined)

describe('git over SSH', () => {
  test.each(['0', '1', '2'])('goes there and back with protocol %s', async (version) => {
    const project = await newProject()
    const source = await folders.repository()
    const speak = ['-c', `protocol.version=${version}`]
    const pushed = await git(source, anaKey, ...speak, 'push', urlOf(project.path), 'main')
    expect(pushed).toMatchObject({ code: 0 })
    const folder = await folders.folder()
    const clone = await git(folder, anaKey, ...speak, 'clone', '-q', urlOf(project.path), 'back')
    expect(clone).toEqual({ code: 0, stdout: '', stderr: '' })
    const back = join(folder, 'back')
    expect(await gitClient(back, ['rev-parse', 'HEAD'])).toBe(
      await gitClient(source, ['rev-parse', 'HEAD']),
    )
    await commitFile(source, 'more.txt', 'more\n', 'More')
    expect((await git(source, anaKey, 'push', urlOf(project.path), 'main')).code).toBe(0)
    expect((await git(back, anaKey, ...speak, 'pull', '-q')).code).toBe(0)
    expect(await readFile(join(back, 'more.txt'), 'utf8')).toBe('more\n')
  })

  test('takes large packs, several refs, deletions and atomic pushes', async () => {
    const project = await newProject()
    const source = await folders.repository()
    const noise = Buffer.from(Array.from({ length: 1_500_000 }, () => Math.random() * 256))
    await writeFile(join(source, 'noise.bin'), noise)
    await gitClient(source, ['add', '-A'])
    await gitClient(source, ['commit', '-qm', 'Noise'])
    await gitClient(source, ['branch', 'one'])
    await gitClient(source, ['tag', 'v1'])
    const url = urlOf(project.path)
    expect(
      (await git(source, anaKey, 'push', '-q', '--atomic', url, 'main', 'one', 'v1')).code,
    ).toBe(0)
    const listed = await git(source, anaKey, 'ls-remote', url)
    expect(listed.stdout).toContain('refs/heads/one')
    expect(listed.stdout).toContain('refs/tags/v1')
    expect(await git(source, anaKey, 'push', url, ':one')).toMatchObject({ code: 0 })
    expect((await git(source, anaKey, 'ls-remote', url)).stdout).not.toContain('refs/heads/one')
    const again = await git(source, anaKey, 'push', url, 'main')
    expect(again.stderr).toContain('Everything up-to-date')
    expect(await gitClient(project.repository, ['fsck', '--full', '--strict'])).toBe('')
  })

  test('says where a merge request is made, and records who pushed', async () => {
    const project = await newProject()
    const source = await folders.repository()
    const url = urlOf(project.path)
    await git(source, anaKey, 'push', '-q', url, 'main')
    await gitClient(source, ['checkout', '-qb', 'topic'])
    await commitFile(source, 'topic.txt', '1\n', 'Topic')
    const { stderr } = await git(source, anaKey, 'push', url, 'topic')
    expect(stderr).toContain('remote: To create a merge request for topic, visit:')
    await world.runTasks()
    const { body } = await ana.get(`/projects/${project.id}/events?action=pushed`)
    expect(body[0].author_username).toBe('ana')
  })

  test('refuses with the words of the rules what may not be pushed', async () => {
    const project = await newProject()
    await addMember(world, project, bob, 30)
    const source = await folders.repository()
    const url = urlOf(project.path)
    await git(source, anaKey, 'push', '-q', url, 'main')
    await commitFile(source, 'b.txt', 'b\n', 'By bob')
    const refused = await git(source, bobKey, 'push', url, 'main')
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain(
      'remote: SVC: You are not allowed to push code to protected branches on this project.',
    )
    expect(refused.stderr).toContain('pre-receive hook declined')
    expect((await git(source, bobKey, 'push', '-q', url, 'HEAD:mine')).code).toBe(0)
  })

  test('hides what the caller may not see, and says why they may not push', async () => {
    const hidden = await newProject()
    const open = await newProject({ visibility: 'public', from: await folders.repository() })
    const folder = await folders.folder()
    const clone = await git(folder, bobKey, 'clone', urlOf(hidden.path), 'x')
    expect(clone.code).toBe(128)
    expect(clone.stderr).toContain(
      "remote: ERROR: The project you were looking for could not be found or you don't have permission to view it.",
    )
    expect((await git(folder, bobKey, 'clone', '-q', urlOf(open.path), 'y')).code).toBe(0)
    const pushed = await git(join(folder, 'y'), bobKey, 'push', urlOf(open.path), 'HEAD:new')
    expect(pushed.stderr).toContain('You are not allowed to push code to this project.')
  })

  test('makes a project for a push to a path that holds none', async () => {
    const source = await folders.repository()
    const { code, stderr } = await git(source, anaKey, 'push', urlOf('ana/by-push'), 'main')
    expect(code).toBe(0)
    expect(stderr).toContain('The private project ana/by-push was successfully created.')
    expect(stderr).toContain(`git remote add origin ${urlOf('ana/by-push')}`)
    const { body } = await ana.get('/projects/ana%2Fby-push')
    expect(body.ssh_url_to_repo).toBe(urlOf('ana/by-push'))
  })

  test('serves wikis', async () => {
    const project = await newProject()
    const source = await folders.repository()
    const url = `ssh://git@127.0.0.1:${port}/${project.path}.wiki.git`
    expect(await git(source, anaKey, 'push', '-q', url, 'main')).toMatchObject({ code: 0 })
    expect((await git(source, anaKey, 'ls-remote', url)).stdout).toContain('refs/heads/main')
  })

  test('serves snippets to whom they are for', async () => {
    const files = [{ file_path: 'a.txt', content: 'one\n' }]
    const given = { title: 'Mine', visibility: 'private', files }
    const { body } = await ana.post('/snippets', given)
    const url = `ssh://git@127.0.0.1:${port}/snippets/${body.id}.git`
    expect(body.ssh_url_to_repo).toBe(url)
    const folder = await folders.folder()
    expect((await git(folder, anaKey, 'clone', '-q', url, 'x')).code).toBe(0)
    await commitFile(join(folder, 'x'), 'b.txt', 'two\n', 'Two')
    expect(await git(join(folder, 'x'), anaKey, 'push', '-q')).toMatchObject({ code: 0 })
    const raw = await ana.get(`/snippets/${body.id}/files/main/b.txt/raw`)
    expect(raw.body).toBe('two\n')
    const refused = await git(folder, bobKey, 'clone', url, 'y')
    expect(refused.code).toBe(128)
    expect(refused.stderr).toContain('could not be found')
    const key = await newKey()
    await addDeployKey(await newProject(), key, true)
    expect((await git(folder, key, 'clone', url, 'z')).code).toBe(128)
  })

  test('follows a project that was moved, with a notice', async () => {
    const project = await newProject({ from: await folders.repository() })
    await ana.put(`/projects/${project.id}`, { path: 'elsewhere' })
    const folder = await folders.folder()
    const { code, stderr } = await git(folder, anaKey, 'clone', urlOf(project.path), 'x')
    expect(code).toBe(0)
    expect(stderr).toContain(`git remote set-url origin ${urlOf('ana/elsewhere')}`)
  })
})

describe('deploy keys', () => {
  test('read the projects that they are linked to, and no other', async () => {
    const from = await folders.repository()
    const project = await newProject({ from })
    const other = await newProject({ from })
    const key = await newKey()
    await addDeployKey(project, key, false)
    const folder = await folders.folder()
    expect((await git(folder, key, 'clone', '-q', urlOf(project.path), 'x')).code).toBe(0)
    expect((await git(folder, key, 'clone', '-q', urlOf(other.path), 'y')).code).toBe(128)
    const pushed = await git(join(folder, 'x'), key, 'push', urlOf(project.path), 'HEAD:new')
    expect(pushed.stderr).toContain('This deploy key does not have write access to this project.')
    const made = await git(join(folder, 'x'), key, 'push', urlOf('ana/made-by-key'), 'HEAD:main')
    expect(made.code).not.toBe(0)
  })

  test('push where they may, in the name of their owner, and to protected branches that name them', async () => {
    const from = await folders.repository()
    const project = await newProject({ from })
    const key = await newKey()
    const id = await addDeployKey(project, key, true)
    const folder = await folders.folder()
    await git(folder, key, 'clone', '-q', urlOf(project.path), 'x')
    const work = join(folder, 'x')
    await commitFile(work, 'a.txt', 'a\n', 'By a key')
    expect((await git(work, key, 'push', '-q', 'origin', 'HEAD:free')).code).toBe(0)
    await world.runTasks()
    const { body } = await ana.get(`/projects/${project.id}/events?action=pushed`)
    expect(body[0].author_username).toBe('ana')
    const nobody = { name: 'main', push_access_level: 0, merge_access_level: 0 }
    await ana.post(`/projects/${project.id}/protected_branches`, nobody)
    const refused = await git(work, key, 'push', 'origin', 'HEAD:main')
    expect(refused.stderr).toContain('You are not allowed to push code to protected branches')
    await ana.delete(`/projects/${project.id}/protected_branches/main`)
    const named = { name: 'main', allowed_to_push: [{ deploy_key_id: id }] }
    expect((await ana.post(`/projects/${project.id}/protected_branches`, named)).status).toBe(201)
    expect(await git(work, key, 'push', '-q', 'origin', 'HEAD:main')).toMatchObject({ code: 0 })
  })

  test('pass no protected branch once their owner has left', async () => {
    const project = await newProject({ from: await folders.repository() })
    await addMember(world, project, bob, 40)
    const key = await newKey()
    const body = { title: 'deploy', key: key.publicKey, can_push: true }
    const { id } = (await bob.post(`/projects/${project.id}/deploy_keys`, body)).body
    const named = { name: 'main', allowed_to_push: [{ deploy_key_id: id }] }
    await ana.post(`/projects/${project.id}/protected_branches`, named)
    const folder = await folders.folder()
    await git(folder, key, 'clone', '-q', urlOf(project.path), 'x')
    const work = join(folder, 'x')
    await commitFile(work, 'a.txt', 'a\n', 'A')
    expect((await git(work, key, 'push', '-q', 'origin', 'HEAD:main')).code).toBe(0)
    await ana.delete(`/projects/${project.id}/members/${bob.id}`)
    await commitFile(work, 'b.txt', 'b\n', 'B')
    const refused = await git(work, key, 'push', 'origin', 'HEAD:main')
    expect(refused.stderr).toContain('You are not allowed to push code to protected branches')
  })
})

describe('signing in', () => {
  const ssh = (identity: SshIdentity | undefined, more = {}) =>
    runSsh({ port, known, identity, args: ['-T'], ...more })

  test('is greeted by name, and a deploy key without one', async () => {
    expect(await ssh(anaKey)).toEqual({
      code: 0,
      stdout: 'Welcome to Gitstead, @ana!\n',
      stderr: '',
    })
    const key = await newKey()
    await addDeployKey(await newProject(), key, false)
    expect((await ssh(key)).stdout).toBe('Welcome to Gitstead, Anonymous!\n')
  })

  test('notes that a key was used', async () => {
    await ssh(bobKey)
    const { body } = await bob.get('/user/keys')
    expect(body[0].last_used_at).toBe(world.ctx.now())
  })

  test('is refused to keys that nobody has registered, keys for signatures, and other names', async () => {
    const signing = await newKey()
    await addKey(ana, signing, { usage_type: 'signing' })
    for (const run of [ssh(stranger), ssh(signing), ssh(anaKey, { user: 'ana' })]) {
      expect(await run).toMatchObject({ code: 255, stdout: '' })
      expect((await run).stderr).toContain('Permission denied (publickey)')
    }
  })

  test('ends with the key and with the account', async () => {
    const key = await newKey()
    const cleo = await world.user('cleo')
    const id = await addKey(cleo, key)
    expect((await ssh(key)).code).toBe(0)
    await world.root.post(`/users/${cleo.id}/block`)
    expect((await ssh(key)).code).toBe(255)
    await world.root.post(`/users/${cleo.id}/unblock`)
    expect((await ssh(key)).code).toBe(0)
    await cleo.delete(`/user/keys/${id}`)
    expect((await ssh(key)).code).toBe(255)
  })

  test.each([
    ['sh', '-c', 'id'],
    ['git-upload-pack', "'../../etc'"],
    ['git', 'upload-pack', '--exec=id', "'ana/project-1.git'"],
    ['git-upload-pack', "'ana/project-1.git';id"],
    ['git-upload-pack', '$(id)'],
    ['git-receive-pack', '1'],
    ['git-upload-pack', "'ana/a'", "'ana/b'"],
    ['scp', '-t', '/tmp/x'],
  ])('refuses the command %s %s', async (...command) => {
    const run = await ssh(anaKey, { command })
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/Disallowed command|could not be found/)
  })

  test('gives no terminal, no subsystem and no forwarding', async () => {
    expect((await ssh(anaKey, { args: ['-tt'] })).stderr).toContain('PTY allocation request failed')
    expect((await ssh(anaKey, { args: ['-s'], command: ['sftp'] })).stderr).toContain('subsystem')
    const through = await ssh(anaKey, { args: ['-W', '127.0.0.1:22'] })
    expect(through.code).not.toBe(0)
    const args = ['-T', '-N', '-R', '0:127.0.0.1:22', '-o', 'ExitOnForwardFailure=yes']
    const back = await ssh(anaKey, { args })
    expect(back.stderr).toContain('remote port forwarding failed')
  })

  test('tells the host keys, which are the ones that clients meet', async () => {
    const { body } = await world.nobody.get('/ssh_host_keys')
    expect(body).toMatchObject({ enabled: true, port, user: 'git' })
    const met = await readFile(known, 'utf8')
    expect(met).toContain(body.host_keys[0].key)
    expect(body.host_keys.map(({ type }: { type: string }) => type)).toEqual([
      'ssh-ed25519',
      'ecdsa-sha2-nistp256',
    ])
  })

  test.each([
    ['KexAlgorithms', 'diffie-hellman-group14-sha1', 'curve25519-sha256'],
    ['KexAlgorithms', 'diffie-hellman-group16-sha512', 'ecdh-sha2-nistp256'],
    ['Ciphers', 'aes128-cbc', 'aes128-gcm@openssh.com'],
    ['Ciphers', 'chacha20-poly1305@openssh.com', 'aes256-ctr'],
    ['MACs', 'hmac-sha1', 'hmac-sha2-512-etm@openssh.com'],
    ['HostKeyAlgorithms', 'ssh-rsa', 'ecdsa-sha2-nistp256'],
  ])('%s: does not speak %s, but %s', async (option, old, good) => {
    // Another file of known hosts: clients refuse another kind of key than the one that they know.
    const hosts = await noKnownHosts(await folders.folder())
    const by = (value: string) =>
      ssh(anaKey, { known: hosts, args: ['-T', '-o', `${option}=${value}`] })
    expect((await by(old)).code).toBe(255)
    expect(await by(good)).toMatchObject({ code: 0, stderr: '' })
  })
})
