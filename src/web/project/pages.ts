import type { Endpoint } from '../../http/endpoint.ts'
import type { Page } from '../page.ts'
import { starForms } from './overview.tsx'
import { previewForm } from './preview.tsx'

export const projectPages: readonly Page[] = []

/** The forms of these pages, and their parts with an address of their own. */
export const projectParts: readonly Endpoint[] = [...starForms, previewForm]
