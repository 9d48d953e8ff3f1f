/** What somebody decided about a stage of one revision. */
export interface Approval {
  /** Hash of the revision. */
  revision: string;
  stage: string;
  decision: 'Approve' | 'Promote';
  by: string;
  /** When the API server got it, as it says there. */
  at?: string;
  comment?: string;
}
