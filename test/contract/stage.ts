import { type Caller, openWorld, type World } from '../support/world.ts'
import { prepareData } from './prepared-data.ts'
import { fillGroup, fillProject, type Place } from './records.ts'

export const roles = {
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
} as const

export const visibilities = ['private', 'internal', 'public'] as const

/** A server with a group and a project of each visibility that hold one of each record, and callers of every kind. */
export interface Stage {
  readonly world: World
  readonly callers: ReadonlyMap<string, Caller>
  /** The owner's tokens with fewer scopes, and tokens that are no user's. */
  readonly tokens: ReadonlyMap<string, Caller>
  readonly places: ReadonlyMap<string, Place>
  /** Somebody who is asked about: no member anywhere, never a caller. */
  readonly target: Caller
  /** Puts the database, and the repositories if they may have changed, back to what they were when the stage was set. */
  undo(repositories: boolean): Promise<void>
  /** Remembers the database as it is now, and gives how to come back to that, until the next `undo`. */
  mark(): Promise<() => Promise<void>>
  close(): Promise<void>
}

export async function setStage(): Promise<Stage> {
  const world = await openWorld({ limitArchives: 0 }, { background: false })
  await world.ctx.settings.change(world.ctx.db, {
    delayed_project_removal: true,
    // More notes are made than anybody may write in a minute.
    notes_create_limit: 0,
  })
  const callers = new Map<string, Caller>([['anonymous', world.nobody]])
  callers.set('stranger', await world.user('stranger'))
  callers.set('external', await world.user('external', { external: true }))
  for (const role of Object.keys(roles)) callers.set(role, await world.user(role))
  callers.set('admin', world.root)
  const target = await world.user('target')
  const owner = callers.get('owner') as Caller
  const places = new Map<string, Place>()
  for (const visibility of visibilities) {
    const group = await post(world.root, '/groups', {
      name: visibility,
      path: `${visibility}-g`,
      visibility,
    })
    for (const [role, level] of Object.entries(roles))
      await post(world.root, `/groups/${group.id}/members`, {
        user_id: callers.get(role)?.id,
        access_level: level,
      })
    const project = await post(owner, '/projects', {
      name: 'p',
      namespace_id: group.id,
      visibility,
      initialize_with_readme: true,
    })
    places.set(visibility, {
      visibility,
      group: await fillGroup(owner, target, group.full_path),
      project: await fillProject(owner, target, project.path_with_namespace),
    })
  }
  await world.runTasks()
  const tokens = await makeTokens(world, owner, places.get('private') as Place)
  return withUndo({ world, callers, tokens, places, target })
}

/** Tokens of other kinds, for the private place. */
async function makeTokens(world: World, owner: Caller, place: Place) {
  const tokens = new Map<string, Caller>()
  for (const scope of ['read_api', 'read_user', 'read_repository', 'write_repository'])
    tokens.set(`owner:${scope}`, world.as(await world.token(owner.id, [scope])))
  const project = `/projects/${place.project.id}`
  const expires_at = '2026-06-04'
  const bot = { name: 'bot', scopes: ['api'], access_level: 40, expires_at }
  const ofProject = await post(owner, `${project}/access_tokens`, bot)
  tokens.set('project token', world.as(ofProject.token))
  const ofGroup = await post(owner, `/groups/${place.group.id}/access_tokens`, bot)
  tokens.set('group token', world.as(ofGroup.token))
  const deploy = await post(owner, `${project}/deploy_tokens`, {
    name: 'all',
    scopes: ['read_repository', 'read_package_registry', 'write_package_registry'],
  })
  tokens.set('deploy token', world.withHeader('Deploy-Token', deploy.token))
  const blocked = await world.user('blocked')
  await world.ctx.db
    .updateTable('users')
    .set({ state: 'blocked' })
    .where('id', '=', blocked.id)
    .execute()
  tokens.set('of a blocked user', blocked)
  tokens.set('wrong token', world.as('no-such-token'))
  return tokens
}

async function post(caller: Caller, path: string, body: unknown) {
  const reply = await caller.post(path, body)
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply.body
}

async function withUndo(stage: Omit<Stage, 'undo' | 'mark' | 'close'>): Promise<Stage> {
  const prepared = await prepareData(stage.world.folder)
  return {
    ...stage,
    undo: prepared.putBack,
    mark: prepared.mark,
    async close() {
      prepared.close()
      await stage.world.close()
    },
  }
}
