import {
  KnowledgeDocumentResponse,
  KnowledgeDocumentTreeItem,
  KnowledgeSourceDiagnosisResponse,
  KnowledgeSourceError,
  KnowledgeSourceResponse,
} from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { SourceDiagnosis } from '../diagnosis/diagnosis.policy';
import type { DocumentView, SourceView } from '../knowledge.queries';
import { versionText } from '../tree.policy';

const errorOf = ({ error }: SourceView): KnowledgeSourceError | null => error && answer(KnowledgeSourceError, error);

export const toSource = (s: SourceView): KnowledgeSourceResponse =>
  answer(KnowledgeSourceResponse, s, {
    status: s.state,
    error: errorOf(s),
    embedded: s.embedded_as !== '',
    // One that is to be indexed once more has not been tried for that yet.
    attempts: s.again ? 0 : s.deliveries,
    size_bytes: s.size_bytes === null ? null : Number(s.size_bytes),
  });

/** Every document has a place and a version. */
const computed = (d: SourceView) => ({ source_id: d.id, status: d.state, position: d.position!, version: versionText(d.version!) });

export const toTreeItem = (d: SourceView): KnowledgeDocumentTreeItem => answer(KnowledgeDocumentTreeItem, d, computed(d));

export const toDocument = (d: DocumentView): KnowledgeDocumentResponse =>
  answer(KnowledgeDocumentResponse, d, { ...computed(d), error: errorOf(d) });

export const toDiagnosis = (diagnosis: SourceDiagnosis): KnowledgeSourceDiagnosisResponse => {
  const { blocked_by, lease } = diagnosis;
  return answer(KnowledgeSourceDiagnosisResponse, diagnosis, {
    blocked_by: blocked_by && { ...blocked_by, since: blocked_by.since && blocked_by.since.toISOString() },
    lease: lease && { ...lease, expires_at: lease.expires_at.toISOString() },
  });
};
