"""Pipelines of scikit-learn, converted by skl2onnx and fitted to a few hundred rows of synthetic data."""
from registry import SKLEARN, Entry, add


def table(which, columns=12):
    import numpy as np
    rng = np.random.default_rng(5 + which)
    return {"table": rng.standard_normal((16, 100)[which] * columns).reshape(-1, columns).astype(np.float32)}


def fitted(make, target):
    def build():
        import numpy as np
        rng = np.random.default_rng(0)
        x = rng.standard_normal((300, 12)).astype(np.float32)
        score = x[:, 0] * 2 + x[:, 1] * x[:, 2] - np.abs(x[:, 3])
        y = {"class": (score > 0).astype(np.int64) + (score > 2), "number": score, "none": None,
             "word": np.array(["low", "mid", "high"])[(score > 0).astype(np.int64) + (score > 2)]}[target]
        return make().fit(x, y)
    return build


def pipeline(name, make, target="class", **options):
    add(Entry(name, "scikit-learn", fitted(make, target), table, {"table": {0: "rows"}}, SKLEARN, **options))


def sk(module, name, **options):
    def make():
        import importlib
        return getattr(importlib.import_module("sklearn." + module), name)(**options)
    return make


def chain(*steps):
    def make():
        from sklearn.pipeline import make_pipeline
        return make_pipeline(*[step() for step in steps])
    return make


scaled = sk("preprocessing", "StandardScaler")
pipeline("sk_logistic", chain(scaled, sk("linear_model", "LogisticRegression")))
pipeline("sk_logistic_words", chain(scaled, sk("linear_model", "LogisticRegression")), "word")
pipeline("sk_ridge_pca", chain(scaled, sk("decomposition", "PCA", n_components=5), sk("linear_model", "Ridge")), "number")
pipeline("sk_forest", sk("ensemble", "RandomForestClassifier", n_estimators=30, random_state=0))
pipeline("sk_forest_regressor", sk("ensemble", "RandomForestRegressor", n_estimators=30, random_state=0), "number")
pipeline("sk_extra_trees", sk("ensemble", "ExtraTreesClassifier", n_estimators=20, random_state=0))
pipeline("sk_boosting", sk("ensemble", "GradientBoostingClassifier", n_estimators=20, random_state=0))
pipeline("sk_boosting_regressor", sk("ensemble", "GradientBoostingRegressor", n_estimators=30, random_state=0), "number")
pipeline("sk_hist_boosting", sk("ensemble", "HistGradientBoostingRegressor", max_iter=20, random_state=0), "number")
pipeline("sk_adaboost", sk("ensemble", "AdaBoostClassifier", n_estimators=10, random_state=0))
pipeline("sk_bagging", sk("ensemble", "BaggingClassifier", n_estimators=5, random_state=0))
pipeline("sk_isolation", sk("ensemble", "IsolationForest", n_estimators=10, random_state=0), "none")
pipeline("sk_tree", sk("tree", "DecisionTreeClassifier", random_state=0))
pipeline("sk_svc", chain(scaled, sk("svm", "SVC")))
pipeline("sk_svc_linear", sk("svm", "LinearSVC"))
pipeline("sk_svr", chain(scaled, sk("svm", "SVR", kernel="rbf")), "number")
pipeline("sk_one_class", sk("svm", "OneClassSVM"), "none")
pipeline("sk_neighbors", sk("neighbors", "KNeighborsClassifier"))
pipeline("sk_neighbors_regressor", sk("neighbors", "KNeighborsRegressor"), "number")
pipeline("sk_bayes", sk("naive_bayes", "GaussianNB"))
pipeline("sk_mlp", chain(scaled, sk("neural_network", "MLPClassifier", max_iter=60, random_state=0)))
pipeline("sk_mlp_regressor", chain(sk("preprocessing", "MinMaxScaler"),
                                   sk("neural_network", "MLPRegressor", max_iter=60, random_state=0)), "number")
pipeline("sk_kmeans", sk("cluster", "KMeans", n_clusters=4, n_init=1, random_state=0), "none")
pipeline("sk_mixture", sk("mixture", "GaussianMixture", n_components=3, random_state=0), "none")
pipeline("sk_gaussian_process", sk("gaussian_process", "GaussianProcessRegressor", normalize_y=True), "number")
pipeline("sk_polynomial", chain(sk("preprocessing", "PolynomialFeatures", degree=2), sk("linear_model", "Lasso")), "number")
pipeline("sk_bins", chain(sk("preprocessing", "KBinsDiscretizer", n_bins=4, encode="onehot-dense"),
                          sk("linear_model", "LogisticRegression")))
pipeline("sk_robust", chain(sk("impute", "SimpleImputer"), sk("preprocessing", "RobustScaler"),
                            sk("preprocessing", "Normalizer"), sk("linear_model", "SGDClassifier", random_state=0)))
pipeline("sk_discriminant", sk("discriminant_analysis", "LinearDiscriminantAnalysis"))
pipeline("sk_power", chain(sk("preprocessing", "PowerTransformer"), sk("linear_model", "ElasticNet")), "number")


def words(which):
    import numpy as np
    rng = np.random.default_rng(which)
    vocabulary = np.array(["red", "green", "blue", "black", "white"])
    return {"word": vocabulary[rng.integers(0, 5, ((8, 30)[which], 2))]}


def encoder():
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    x = words(1)["word"]
    return make_pipeline(OneHotEncoder(), LogisticRegression()).fit(x, (x[:, 0] < x[:, 1]).astype(np.int64))


add(Entry("sk_categories", "scikit-learn", encoder, words, {"word": {0: "rows"}}, SKLEARN))
