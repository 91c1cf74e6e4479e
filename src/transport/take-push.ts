import { Readable } from 'node:stream'
import type { Ctx } from '../ctx.ts'
import { damaged, damageText } from '../git/error.ts'
import { endAsideBroken, listBrokenRefs, setAsideBroken } from '../git/refs/broken-refs.ts'
import { isDeletion, isPushable, type Push, type Refusal } from '../repositories/refs/moves.ts'
import { dropRest } from './drop-rest.ts'
import { type PushRequest, readPushRequest, waitForPack } from './push-request.ts'
import { ReceivePack } from './receive-pack.ts'
import { type Reception, sentences } from './reception.ts'
import { type RefOutcome, wholeAnswer } from './report.ts'
import type { Transport } from './transport.ts'

/**
 * Takes a push and yields the answer. Rules about who and which ref are applied before git starts;
 * those that look at commits when git has them in quarantine; the intent is recorded meanwhile,
 * the refs move, and the effects are recorded before the client gets its answer.
 */
export async function* takePush(transport: Transport, given: Reception): AsyncGenerator<Buffer> {
  const request = await readPushRequest(given.input)
  transport.atStep('commands read')
  // Clients ask whether they are let in with an empty push before they send a large one.
  if (request.commands.length === 0) return
  const brings = !given.staysOpen || request.commands.some((command) => !isDeletion(command))
  if (brings) await waitForPack(given.input, transport.timeLimit)
  const push: Push = { via: 'push', moves: request.commands, options: request.options }
  const refused = hiddenOfAtomic(request) ?? (await refusedByRules(given, request, push))
  if (refused) {
    yield* refuse(given, refused, brings)
    return
  }
  const release = await transport.pushes.acquire(given.signal, given.updater.repo.caller)
  let run: ReceivePack | undefined
  let aside: readonly string[] = []
  try {
    const damage = await makeWay(given, push)
    aside = damage.aside
    if (damage.refusals.length > 0) {
      yield* refuse(given, refusedPush(given.ctx, request, damage.refusals), brings)
      return
    }
    const input = brings ? given.input : Readable.from([])
    run = new ReceivePack(transport, { ...given, input }, request, push)
    yield* run.answer()
    if (given.staysOpen && brings && !run.hasRead) await dropRest(given.input)
  } finally {
    run?.abandon()
    const ended = (run?.finished ?? Promise.resolve()).finally(release)
    void (aside.length > 0 ? ended.then(() => endAside(given, aside)) : ended)
  }
}

/** A client listens only when it has sent everything; one that leaves its side open listens from the beginning. */
async function* refuse(
  { input, staysOpen = false }: Reception,
  answer: Buffer,
  brings: boolean,
): AsyncGenerator<Buffer> {
  if (!staysOpen) for await (const _ of input);
  yield answer
  if (staysOpen && brings) await dropRest(input)
}

/** Git takes nothing while a ref is broken; whoever brings all that are makes them anew. */
async function makeWay(
  { ctx, updater, signal }: Reception,
  { moves }: Push,
): Promise<{ readonly refusals: readonly Refusal[]; readonly aside: readonly string[] }> {
  const broken = await listBrokenRefs(updater.repo, {}, signal)
  const [first] = broken
  if (!first) return { refusals: [], aside: [] }
  const names = moves.map(({ name }) => name)
  const left = broken.find(({ name }) => !names.includes(name))
  const error = damaged((left ?? first).what)
  ctx.log.error('a repository is damaged', { error, repository: updater.repo.key })
  if (!left) return { refusals: [], aside: await setAsideBroken(updater.repo, { names }) }
  return { refusals: names.map((name) => ({ name, reason: damageText(error) })), aside: [] }
}

async function endAside({ ctx, updater }: Reception, names: readonly string[]): Promise<void> {
  try {
    await endAsideBroken(updater.repo, { names })
  } catch (error) {
    ctx.log.error('broken refs stay aside', { error, names, repository: updater.repo.key })
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

function refusedPush(ctx: Ctx, request: PushRequest, refusals: readonly Refusal[]): Buffer {
  const outcomes = request.commands.map(({ name }) => ({
    name,
    refusal: 'pre-receive hook declined',
  }))
  return wholeAnswer(request.capabilities, sentences(ctx, refusals), outcomes)
}
