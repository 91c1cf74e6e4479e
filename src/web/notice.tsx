import type { ComponentChildren } from 'preact'
import type { Bytes } from '../http/endpoint.ts'
import { answerPage } from './answer.ts'
import type { PageCtx } from './page-ctx.ts'

/** A page that only says what a form did, where that leads nowhere else; nobody keeps it. */
export async function answerNotice(
  ctx: PageCtx,
  title: string,
  children: ComponentChildren,
): Promise<Bytes> {
  ctx.headers['Cache-Control'] = 'no-store'
  const body = (
    <div class="sign">
      <h1>{title}</h1>
      {children}
    </div>
  )
  return await answerPage(ctx, { title: `${title} · Gitstead`, body, refused: null })
}
