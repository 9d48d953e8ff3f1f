import { describePages, describeShopPages } from '../../conformance/docs/index.ts';
import { startEmbeddedCluster } from '../cluster.ts';

describePages('on the embedded cluster', startEmbeddedCluster);
describeShopPages('on the embedded cluster', startEmbeddedCluster);
