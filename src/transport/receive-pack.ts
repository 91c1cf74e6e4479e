import { diskFullText, isDiskFull } from '../base/full-disk.ts'
import { processMark } from '../base/process-mark.ts'
import { drained } from '../base/streams/drained.ts'
import { GitError } from '../git/error.ts'
import { releaseDeadLocks } from '../git/locks/left-over.ts'
import { syncLooseObjects } from '../git/objects/object-folder.ts'
import { locksOf } from '../git/refs/update-refs.ts'
import type { Repo } from '../git/repo.ts'
import { isPushable, type Push } from '../repositories/refs/moves.ts'
import { objectFacts } from '../repositories/refs/object-facts.ts'
import { finalizeMoved, readMoved } from '../repositories/refs/ref-updater.ts'
import { leaveBytes } from '../repositories/size-limit/claims.ts'
import { BodyLimit } from './body-limit.ts'
import { type GitService, startService, stopAfter } from './git-process.ts'
import { allow, deny, readHookQuestion } from './hook.ts'
import type { PushRequest } from './push-request.ts'
import { receiveCommand } from './receive-command.ts'
import { messagesOf, type Reception, sentences } from './reception.ts'
import { PushOutput } from './report.ts'
import type { Transport } from './transport.ts'

/** Twice as long as git is silent while it works (`receive.keepAlive`). */
const workingMs = 10_000

/** One `git receive-pack` and what belongs to it. It goes on to its end once git may move refs. */
export class ReceivePack {
  readonly #transport: Transport
  readonly #given: Reception
  readonly #push: Push
  /** Without the refs that git refuses by itself, as they are not pushable. */
  readonly #checked: Push
  readonly #repo: Repo
  readonly #git: GitService
  readonly #output: PushOutput
  readonly #ready: Buffer[] = []
  #wake = () => {}
  /** What is about to move, written down while git takes the objects in. */
  readonly #intent: Promise<number>
  /** Git has been allowed to move refs, and may be at it. */
  #allowed = false
  #abandoned = false
  /** Says that the moves are recorded, once git has been allowed to make them. */
  #leave = () => {}
  #inputError: unknown
  /** Resolves when git is gone and the database knows what it did; never rejects. */
  readonly finished: Promise<void>
  #outcome: { readonly error: unknown } | undefined

  constructor(transport: Transport, given: Reception, request: PushRequest, push: Push) {
    this.#transport = transport
    this.#given = given
    this.#push = push
    this.#checked = { ...push, moves: push.moves.filter(({ name }) => isPushable(name)) }
    this.#repo = given.updater.repo
    this.#output = new PushOutput(request.capabilities)
    this.#git = startService(receiveCommand(transport.hooks, given.ctx, this.#repo))
    this.#intent = this.#record()
    // Whoever needs it gets the failure then.
    this.#intent.catch(() => {})
    given.signal.addEventListener('abort', () => this.abandon(), { once: true })
    if (given.signal.aborted) this.abandon()
    const fed = this.#feed(request.head)
    const timer = stopAfter(transport.timeLimit, () => this.abandon())
    this.finished = this.#run(fed)
      .then(
        () => this.#end(undefined),
        (error: unknown) => this.#end({ error }),
      )
      .finally(() => clearTimeout(timer))
    void transport.finish(this.finished)
  }

  /** What goes to the client, as it comes. */
  async *answer(): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = this.#ready.shift()
      if (piece) yield piece
      else if (this.#outcome) throw this.#outcome.error
      else if (this.#done) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Whether git has read the whole pack. */
  get hasRead(): boolean {
    return this.#output.isUnpacked
  }

  /** The client is gone: git is stopped, unless it may be moving refs already. */
  abandon(): void {
    this.#abandoned = true
    if (!this.#allowed) this.#git.stop()
  }

  #done = false

  #end(outcome: { readonly error: unknown } | undefined): void {
    this.#outcome = outcome
    this.#done = true
    this.#git.stop()
    leaveBytes(this.#repo, this.#checked)
    this.#leave()
    this.#wake()
  }

  #offer(piece: Buffer): void {
    if (piece.length === 0) return
    this.#ready.push(piece)
    this.#wake()
  }

  /** Hands the client's bytes to git. What comes after git has ended is read and dropped. */
  async #feed(head: Buffer): Promise<void> {
    const { stdin } = this.#git
    stdin.write(head)
    try {
      for await (const chunk of this.#given.input) {
        if (stdin.destroyed || stdin.errored || stdin.write(chunk)) continue
        await drained(stdin)
      }
      stdin.end()
    } catch (error) {
      this.#inputError = error
      if (!this.#allowed) this.#git.stop()
    }
  }

  async #run(fed: Promise<void>): Promise<void> {
    const judged = this.#judge()
    for await (const chunk of this.#git.stdout as AsyncIterable<Buffer>) {
      // Git says every few seconds that it is still at work: the client has nothing to say meanwhile.
      if (this.#given.input instanceof BodyLimit) this.#given.input.allowSilence(workingMs)
      this.#offer(this.#output.take(chunk))
    }
    const { code, stderr } = await this.#git.closed
    await judged
    await this.#finalize()
    this.#leave()
    // A client listens only when it has sent everything.
    if (!this.#given.staysOpen) await fed
    if (this.#inputError !== undefined) throw this.#inputError
    if (this.#output.outcomes().length === 0 && code !== 0) {
      throw new GitError('failed', `git receive-pack: ${stderr.trim().split('\n').at(-1) ?? ''}`)
    }
    this.#offer(this.#output.finish(await this.#messages()))
  }

  /** Writes the intent down, on the disk. A push that is refused later finalizes it as one that moved nothing. */
  async #record(): Promise<number> {
    const mark = processMark(await this.#git.pid.catch(() => 0)) ?? null
    const id = await this.#given.updater.open(this.#checked, mark)
    this.#transport.atStep('intent recorded')
    return id
  }

  /** Answers git's hook: yes, once the rules that need the new commits say so and the intent is on the disk. */
  async #judge(): Promise<void> {
    const { toHook, fromHook } = this.#git
    try {
      const question = await readHookQuestion(fromHook)
      if (!question) return
      this.#transport.atStep('objects received')
      const { ctx, updater } = this.#given
      const { quarantine } = question
      const facts = objectFacts(this.#repo, quarantine)
      const [refusals] = await Promise.all([
        updater.check(this.#checked, facts),
        quarantine === undefined ? undefined : syncLooseObjects(quarantine),
        this.#intent,
      ])
      if (refusals.length > 0) return deny(toHook, sentences(ctx, refusals))
      if (this.#abandoned) return deny(toHook, [])
      await releaseDeadLocks(this.#repo.path, locksOf(this.#checked.moves.map(({ name }) => name)))
      this.#leave = await this.#repo.moves.begin(this.#repo.key)
      this.#allowed = true
      this.#transport.atStep('allowed')
      allow(toHook)
    } catch (error) {
      this.#given.ctx.log.error('push not judged', { error, repository: this.#repo.key })
      const failed = 'The server failed to check this push. Please try again.'
      deny(toHook, [isDiskFull(error) ? diskFullText : failed])
    }
  }

  async #finalize(): Promise<void> {
    // Without an intent git was not allowed to move anything.
    const intent = await this.#intent.catch(() => undefined)
    if (intent === undefined) return
    const moved = this.#allowed ? await this.#moved() : new Set<string>()
    if (this.#allowed) this.#transport.atStep('refs moved')
    await finalizeMoved(this.#given.ctx, this.#given.updater, intent, moved)
    if (this.#allowed) this.#transport.atStep('finalized')
  }

  /** What git says it moved; without a report, what the refs say. */
  async #moved(): Promise<ReadonlySet<string>> {
    const said = this.#output.outcomes().length > 0
    return said ? this.#reported() : await readMoved(this.#repo, this.#checked.moves)
  }

  /** The refs of which git's report says that they moved. */
  #reported(): ReadonlySet<string> {
    const moved = this.#output.outcomes().filter(({ refusal }) => refusal === null)
    return new Set(moved.map(({ name }) => name))
  }

  async #messages(): Promise<string[]> {
    const moved = this.#reported()
    const moves = this.#push.moves.filter(({ name }) => moved.has(name))
    return await messagesOf(this.#given, moves, this.#push)
  }
}
