import { Gitlab } from '@gitbeaker/rest'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, useWorld } from '../support/world.ts'

const world = useWorld({ externalUrl: 'http://gitstead.example' })
let api: InstanceType<typeof Gitlab>
let theirs: InstanceType<typeof Gitlab>
let user: Caller

beforeAll(async () => {
  const token = await world.token(world.root.id, ['api', 'sudo'])
  api = new Gitlab({ host: world.url, token })
  user = await world.user('beatrix')
  theirs = new Gitlab({ host: world.url, token: await world.token(user.id, ['api']) })
})

describe('@gitbeaker/rest, unchanged', () => {
  test('manages tokens of people, and of projects and groups with their bots', async () => {
    const made = await api.UserImpersonationTokens.create(user.id, 'as her', ['api'])
    expect(await api.UserImpersonationTokens.show(user.id, made.id)).toMatchObject({ active: true })
    await api.UserImpersonationTokens.revoke(user.id, made.id)
    const all = await api.UserImpersonationTokens.all(user.id, { state: 'inactive' })
    expect(all.map((one) => one.id)).toEqual([made.id])
    const project = await api.Projects.create({ name: 'Tokens' })
    const group = await api.Groups.create('Tokens', 'tokens')
    for (const [tokens, id] of [
      [api.ProjectAccessTokens, project.id],
      [api.GroupAccessTokens, group.id],
    ] as const) {
      const token = await tokens.create(id, 'bot', ['api'], '2027-01-01')
      const bot = new Gitlab({ host: world.url, token: token.token })
      expect((await bot.Users.showCurrentUser()).id).toBe(token.user_id)
      const rotated = await tokens.rotate(id, token.id)
      expect(rotated.token).not.toBe(token.token)
      await expect(bot.Users.showCurrentUser()).rejects.toThrow()
      await tokens.revoke(id, rotated.id)
      expect((await tokens.show(id, rotated.id)).revoked).toBe(true)
    }
    const [own] = await theirs.PersonalAccessTokens.all()
    expect((await theirs.PersonalAccessTokens.show({ tokenId: own?.id ?? 0 })).user_id).toBe(
      user.id,
    )
  })

  test('manages deploy tokens', async () => {
    const project = await api.Projects.create({ name: 'Deployed' })
    const at = { projectId: project.id }
    const made = await api.DeployTokens.create('ship', ['read_repository'], at)
    expect(made.token).toMatch(/./)
    expect((await api.DeployTokens.show(made.id, at)).name).toBe('ship')
    expect((await api.DeployTokens.all(at)).map((one) => one.id)).toEqual([made.id])
    expect((await api.DeployTokens.all()).map((one) => one.id)).toContain(made.id)
    await api.DeployTokens.remove(made.id, at)
    expect(await api.DeployTokens.all(at)).toEqual([])
  })

  test('makes service accounts of the instance and of groups, with their tokens', async () => {
    const instance = await api.ServiceAccounts.create({ name: 'Robot' })
    expect(instance.username).toMatch(/^service_account_/)
    const group = await api.Groups.create('Robots', 'robots')
    const account = await api.GroupServiceAccounts.create(group.id, { username: 'r2' })
    expect(account.username).toBe('r2')
    // This client asks for tokens at a path that no server of this API has.
    const accounts = `/groups/${group.id}/service_accounts/${account.id}/personal_access_tokens`
    const token = (await world.root.post(accounts, { name: 'beep', scopes: ['api'] })).body
    const robot = new Gitlab({ host: world.url, token: token.token })
    expect((await robot.Users.showCurrentUser()).username).toBe('r2')
    const rotated = await api.GroupServiceAccounts.rotatePersonalAccessToken(
      group.id,
      Number(account.id),
      Number(token.id),
    )
    expect(rotated.token).not.toBe(token.token)
  })

  test('lists, changes and removes members of projects', async () => {
    const project = await api.Projects.create({ name: 'Members' })
    await api.ProjectMembers.add(project.id, 30, { userId: user.id } as never)
    expect((await api.ProjectMembers.show(project.id, user.id)).access_level).toBe(30)
    await api.ProjectMembers.edit(project.id, user.id, 40)
    expect((await api.ProjectMembers.show(project.id, user.id)).access_level).toBe(40)
    await api.ProjectMembers.remove(project.id, user.id)
    const left = await api.ProjectMembers.all(project.id)
    expect(left.map((one) => one.username)).toEqual(['root'])
  })

  test('asks for access, approves and denies', async () => {
    const project = await api.Projects.create({ name: 'Wanted', visibility: 'public' })
    const group = await api.Groups.create('Wanted', 'wanted', { visibility: 'public' })
    for (const [mine, others, id] of [
      [theirs.ProjectAccessRequests, api.ProjectAccessRequests, project.id],
      [theirs.GroupAccessRequests, api.GroupAccessRequests, group.id],
    ] as const) {
      expect((await mine.request(id)).username).toBe('beatrix')
      expect((await others.all(id)).map((one) => one.id)).toEqual([user.id])
      await others.deny(id, user.id)
      await mine.request(id)
      expect(await others.approve(id, user.id, { accessLevel: 20 })).toMatchObject({
        access_level: 20,
      })
    }
  })

  test('finds namespaces, and whether names are free', async () => {
    const own = await theirs.Namespaces.all({ search: 'beatrix' })
    expect(own).toMatchObject([{ kind: 'user', path: 'beatrix' }])
    expect((await theirs.Namespaces.show('beatrix')).id).toBe(own[0]?.id)
    expect(await theirs.Namespaces.exists('beatrix')).toEqual({
      exists: true,
      suggests: ['beatrix1'],
    })
    expect((await theirs.Namespaces.exists('free')).exists).toBe(false)
  })

  test('broadcasts messages', async () => {
    const made = await api.BroadcastMessages.create({ message: 'Soon down' })
    expect(made.active).toBe(true)
    await api.BroadcastMessages.edit(made.id, { message: 'Up again' })
    expect((await theirs.BroadcastMessages.show(made.id)).message).toBe('Up again')
    expect(await theirs.BroadcastMessages.all()).toHaveLength(1)
    await api.BroadcastMessages.remove(made.id)
    expect(await theirs.BroadcastMessages.all()).toEqual([])
  })

  test('sets notifications for the instance, a group and a project', async () => {
    const project = await theirs.Projects.create({ name: 'Hooked' })
    const group = await theirs.Groups.create('Hooked', 'hooked')
    expect((await theirs.NotificationSettings.edit({ level: 'watch' } as never)).level).toBe(
      'watch',
    )
    for (const at of [{ projectId: project.id }, { groupId: group.id }]) {
      expect((await theirs.NotificationSettings.show(at as never)).level).toBe('global')
      const edit = { ...at, level: 'custom', newNote: true }
      const custom = await theirs.NotificationSettings.edit(edit as never)
      expect(custom).toMatchObject({ level: 'custom', events: { new_note: true } })
    }
  })
})
