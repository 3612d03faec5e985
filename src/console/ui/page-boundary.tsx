/** Keeps an error within its page: navigation and connection go on, and other pages work. */
import { Component, type ReactNode } from 'react';
import { PageHead } from './page-head.tsx';

interface BoundaryProps {
  readonly title: string;
  readonly children: ReactNode;
}

export class PageBoundary extends Component<BoundaryProps, { readonly error: string | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: string } {
    return { error: String(error) };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <>
        <PageHead title={this.props.title} />
        <p className="is-bad" role="alert">
          {this.state.error}
        </p>
      </>
    );
  }
}
