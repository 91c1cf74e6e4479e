import { Readable } from 'node:stream'
import type { Ctx } from '../ctx.ts'
import { isPushable, type Push, type Refusal } from '../repositories/refs/moves.ts'
import { type PushRequest, readPushRequest, waitForPack } from './push-request.ts'
import { ReceivePack } from './receive-pack.ts'
import { messagesOf, type Reception, sentences } from './reception.ts'
import { type RefOutcome, wholeAnswer } from './report.ts'
import { readSmallPack, takeSmallPush } from './small-push.ts'
import type { Transport } from './transport.ts'

/**
 * Takes a push and yields the answer. Rules about who and which ref are applied before git starts;
 * those that look at commits when git has them in quarantine; the intent is recorded meanwhile,
 * the refs move, and the effects are recorded before the client hears of success.
 */
export async function* takePush(transport: Transport, given: Reception): AsyncGenerator<Buffer> {
  const request = await readPushRequest(given.input)
  transport.atStep('commands read')
  // Clients ask whether they are let in with an empty push before they send a large one.
  if (request.commands.length === 0) return
  await waitForPack(given.input, transport.timeLimit)
  const push: Push = { via: 'push', moves: request.commands, options: request.options }
  const refused = hiddenOfAtomic(request) ?? (await refusedByRules(given, request, push))
  if (refused) {
    transport.ready.drop(given.updater.repo.path)
    for await (const _ of given.input) {
      // A client listens only when it has sent everything.
    }
    yield refused
    return
  }
  const release = await transport.pushes.acquire(given.signal)
  let run: ReceivePack | undefined
  try {
    const pack = await readSmallPack(request, given.input)
    const answer = pack && (await answerSmall(transport, given, request, push, pack))
    if (answer) {
      yield answer
      return
    }
    transport.ready.drop(given.updater.repo.path)
    const input = pack ? Readable.from([pack]) : given.input
    run = new ReceivePack(transport, { ...given, input }, request, push)
    yield* run.answer()
  } finally {
    run?.abandon()
    void (run?.finished ?? Promise.resolve()).finally(release)
  }
}

async function refusedByRules(
  given: Reception,
  request: PushRequest,
  push: Push,
): Promise<Buffer | undefined> {
  const refusals = await given.updater.check(push, undefined)
  return refusals.length > 0 ? refusedPush(given.ctx, request, refusals) : undefined
}

/** Git refuses hidden refs one by one and moves the others, also where the client wants all or none. */
function hiddenOfAtomic({ capabilities, commands }: PushRequest): Buffer | undefined {
  if (!capabilities.has('atomic') || commands.every(({ name }) => isPushable(name)))
    return undefined
  const outcomes = commands.map(
    ({ name }): RefOutcome => ({
      name,
      refusal: isPushable(name) ? 'atomic push failure' : 'deny updating a hidden ref',
    }),
  )
  return wholeAnswer(capabilities, [], outcomes)
}

/** The answer to a push that needs no `git receive-pack`; undefined when it does. */
async function answerSmall(
  transport: Transport,
  given: Reception,
  request: PushRequest,
  push: Push,
  pack: Buffer,
): Promise<Buffer | undefined> {
  const taking = takeSmallPush(transport, given, push, pack)
  const result = await transport.finish(taking)
  if (result === 'left to git') return undefined
  if (result !== 'moved') return refusedPush(given.ctx, request, result)
  const outcomes = push.moves.map(({ name }) => ({ name, refusal: null }))
  return wholeAnswer(request.capabilities, await messagesOf(given, push.moves, push), outcomes)
}

function refusedPush(ctx: Ctx, request: PushRequest, refusals: readonly Refusal[]): Buffer {
  const outcomes = request.commands.map(({ name }) => ({
    name,
    refusal: 'pre-receive hook declined',
  }))
  return wholeAnswer(request.capabilities, sentences(ctx, refusals), outcomes)
}
